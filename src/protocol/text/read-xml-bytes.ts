import { PROTOCOL_LIMITS } from '../limits.ts';
import { textPositionAt } from '../shape/place.ts';
import { refused, type Parsed } from '../shape/problem.ts';
import { parseXmlTree, refuseSize, type XmlDocument } from './xml.ts';
import { decodeUtf8, utf8Length } from './utf8.ts';

/** XML as it comes from a file or a socket: UTF-8 and nothing else, whatever a declaration inside may claim. */
export function parseXmlBytes(bytes: Uint8Array): Parsed<XmlDocument> {
  if (bytes.length > PROTOCOL_LIMITS.handoffBytes) return refuseSize(bytes.length);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return parseXmlTree(text);
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return refused({
    code: 'xml/not-utf-8',
    message: 'XML is not valid UTF-8',
    path: '',
    ...textPositionAt(lenient, findReplaced(lenient, bytes)),
    hint: 'Save it as UTF-8.',
  });
}

/** The first replacement character that the decoder put in, and not the sender. */
function findReplaced(text: string, bytes: Uint8Array): number {
  let byte = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', from)) {
    byte += utf8Length(text.slice(from, at));
    const isWritten = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!isWritten) return at;
    byte += 3;
    from = at + 1;
  }
  return 0;
}
