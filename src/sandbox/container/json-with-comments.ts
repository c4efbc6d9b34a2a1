/** Parses JSON with comments and trailing commas, as in devcontainer.json. Returns undefined for other text. */
export function parseJsonWithComments(text: string): unknown {
  try {
    return JSON.parse(removeTrailingCommas(removeComments(text.replace(/^\uFEFF/, '')))) as unknown;
  } catch {
    return undefined;
  }
}

/** Matches strings first, so that `//` in a URL is not taken for a comment. */
function removeComments(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[^]*?\*\//g, (_, string?: string) => string ?? ' ');
}

function removeTrailingCommas(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? '');
}
