import Foundation
import SessionClientService

// Writes the protos that are made from the server's endpoints into a folder; see Shared/API/Proto/make.sh.
guard let folder = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("Usage: proto-files FOLDER\n".utf8))
    exit(64)
}
try ProtoFiles.write(to: URL(filePath: folder))
