/** JSON with comments and trailing commas, as in devcontainer.json. Undefined if the text is something else. */
export function parseJsonWithComments(text: string): unknown {
  try {
    return JSON.parse(removeTrailingCommas(removeComments(text.replace(/^\uFEFF/, '')))) as unknown;
  } catch {
    return undefined;
  }
}

/** A string is matched first, so that `//` in a URL is no comment. */
function removeComments(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[^]*?\*\//g, (_, string?: string) => string ?? ' ');
}

function removeTrailingCommas(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? '');
}
