<?php
// Reads files like owners.py, by PHP's own tokenizer: the strings of each file, and the names of its other tokens. No file is run.
while (($path = fgets(STDIN)) !== false) {
    $path = rtrim($path, "\n");
    $texts = [];
    try {
        foreach (token_get_all(file_get_contents($path), TOKEN_PARSE) as $token) {
            if (is_array($token) && $token[0] === T_CONSTANT_ENCAPSED_STRING) {
                $texts[] = eval('return ' . $token[1] . ';'); // a literal without variables
            } elseif (!is_array($token) || !in_array($token[0], [T_WHITESPACE, T_COMMENT, T_DOC_COMMENT, T_INLINE_HTML])) {
                $texts[] = is_array($token) ? token_name($token[0]) : $token;
            }
        }
        $answer = ['path' => $path, 'texts' => $texts];
    } catch (Throwable $error) {
        $answer = ['path' => $path, 'error' => $error->getMessage()];
    }
    echo json_encode($answer, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
