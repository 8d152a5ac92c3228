#include <wchar.h>
// Declared by wchar.h only if X/Open's functions were asked for before it was first read.
extern int wcwidth(wchar_t character);

// How many columns a code point takes in a terminal, by the process's locale; -1 if it isn't printable.
static inline int width_of_code_point(unsigned int code_point) { return wcwidth((wchar_t)code_point); }
