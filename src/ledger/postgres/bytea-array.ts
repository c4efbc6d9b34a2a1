const BYTEA_OID = 17;
const HEADER_BYTES = 20;

/**
 * A `bytea[]` in PostgreSQL's binary form. The driver would write each element as hexadecimal text, which doubles what
 * is sent and costs the server more than the insert itself.
 */
export function encodeByteaArray(elements: readonly Uint8Array[]): Buffer {
  if (elements.length === 0) return emptyArray();
  const total = elements.reduce((sum, element) => sum + 4 + element.byteLength, HEADER_BYTES);
  const array = Buffer.allocUnsafe(total);
  writeHeader(array, 1);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  for (const element of elements) {
    offset = array.writeInt32BE(element.byteLength, offset);
    array.set(element, offset);
    offset += element.byteLength;
  }
  return array;
}

/** An empty array has no dimensions at all, so neither a length nor a lower bound. */
function emptyArray(): Buffer {
  const array = Buffer.allocUnsafe(12);
  writeHeader(array, 0);
  return array;
}

function writeHeader(array: Buffer, dimensions: number): void {
  array.writeInt32BE(dimensions, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(BYTEA_OID, 8);
}
