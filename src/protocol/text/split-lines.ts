/**
 * Calls `onLine` for each complete line that is not empty. A line over `maxBytes` is dropped, so that memory stays
 * bounded.
 */
export function splitLines(
  onLine: (line: string) => void,
  { maxBytes = MAX_LINE_BYTES, onDropped }: { readonly maxBytes?: number; readonly onDropped?: () => void } = {},
): (chunk: Uint8Array) => void {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const decoder = new TextDecoder();
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      bytes += end - from;
      if (bytes > maxBytes) onDropped?.();
      else if (bytes > 0) onLine(decoder.decode(joined(pieces, bytes)));
      pieces = [];
      bytes = 0;
      from = end + 1;
    }
    if (from === chunk.length) return;
    bytes += chunk.length - from;
    if (bytes > maxBytes) pieces = [];
    else pieces.push(chunk.subarray(from));
  };
}

function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only, ...more] = pieces;
  if (only !== undefined && more.length === 0) return only;
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;
