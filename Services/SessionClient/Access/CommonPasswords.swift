/// The passwords that attackers try first: the most common ones of published leaks that have at least ten characters, in lower
/// case, one a line in `common-passwords.txt`. Insults are left out.
enum CommonPasswords {
    static let all = Set(
        String(decoding: PackageResources.common_passwords_txt, as: UTF8.self).split(whereSeparator: \.isNewline).map(
            String.init))
}
