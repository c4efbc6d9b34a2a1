/** Why a body must not reach the API: nobody could count what it asks for. */
export type BodyRefusal = 'background' | 'unreadable';

/**
 * Reads from the JSON body of a request, while it passes, what decides how much its answer may cost. It keeps nothing
 * but the current name and value. Where a name occurs twice, the dearer value counts, because servers differ in which
 * one they use.
 */
export class RequestBody {
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  readonly #start: number[] = [];
  /** The names of the open fields, by depth. */
  readonly #names: string[] = ['', '', ''];
  #text = '';
  readonly #models = new Set<string>();
  #answers = 1;
  #isStored = false;
  #isBackground = false;

  /** Reads the next bytes. If it returns a refusal, they must not be sent. */
  push(chunk: Uint8Array): BodyRefusal | undefined {
    for (const byte of chunk) {
      if (this.#start.length < START_BYTES) this.#start.push(byte);
      this.#readByte(byte);
    }
    if (this.#isBackground) return 'background';
    return isOtherEncoding(this.#start) ? 'unreadable' : undefined;
  }

  /** The model that is asked; null if the body names none, or several. */
  get model(): string | null {
    const [model = null] = this.#models;
    return this.#models.size === 1 ? model : null;
  }

  /** How many answers the model writes at the same time. */
  get answers(): number {
    return this.#answers;
  }

  /** Whether the input includes a conversation, prompt or cache that the API has stored. */
  get isStored(): boolean {
    return this.#isStored;
  }

  #readByte(byte: number): void {
    if (this.#isString) {
      this.#keep(byte);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isString = false;
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#isString = true;
        return this.#keep(byte);
      case COLON:
        if (this.#depth < this.#names.length) this.#names[this.#depth] = this.#text;
        this.#text = '';
        return;
      case COMMA:
        return this.#endValue();
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#text = byte === OPEN_OBJECT ? '{' : '[';
        this.#endValue();
        this.#depth++;
        return;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#endValue();
        this.#depth--;
        return;
      default:
        if (byte > SPACE) this.#keep(byte);
    }
  }

  #keep(byte: number): void {
    if (this.#depth < this.#names.length && this.#text.length < MAX_TEXT) this.#text += String.fromCharCode(byte);
  }

  #endValue(): void {
    const [value, name] = [this.#text, this.#names[this.#depth] ?? ''];
    this.#text = '';
    if (this.#depth < this.#names.length) this.#names[this.#depth] = '';
    if (name !== '' && value !== '') this.#note(String(parse(name)), value);
  }

  #note(name: string, value: string): void {
    if (this.#depth === 1 && name === 'background' && !EMPTY.has(value)) this.#isBackground = true;
    if (this.#depth === 1 && name === 'model') this.#models.add(String(parse(value)));
    if (PARALLEL.has(name)) this.#answers = Math.max(this.#answers, countOf(value));
    if (this.#depth === 1 && STORED.has(name) && !EMPTY.has(value)) this.#isStored = true;
    // Of the text completions it is a string or an array, and an object is the name of a stored prompt.
    if (this.#depth === 1 && name === 'prompt' && value === '{') this.#isStored = true;
  }
}

const [QUOTE, BACKSLASH, COLON, COMMA, SPACE] = [0x22, 0x5c, 0x3a, 0x2c, 0x20];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Longer names and values are none of those that are looked for. */
const MAX_TEXT = 2000;
const START_BYTES = 4;
const EMPTY: ReadonlySet<string> = new Set(['false', 'null']);
const PARALLEL: ReadonlySet<string> = new Set(['n', 'best_of', 'candidateCount', 'candidate_count']);
const STORED: ReadonlySet<string> = new Set([
  'previous_response_id',
  'conversation',
  'cachedContent',
  'cached_content',
]);
const MOST_ANSWERS = 128;

function countOf(value: string): number {
  const count = Number(parse(value));
  return count >= 1 ? Math.min(MOST_ANSWERS, Math.ceil(count)) : 1;
}

/** Reports whether a body is UTF-16 or UTF-32, which some servers decode. */
function isOtherEncoding(start: readonly number[]): boolean {
  return start.includes(0) || (start[0] === 0xfe && start[1] === 0xff) || (start[0] === 0xff && start[1] === 0xfe);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString());
  } catch {
    return undefined;
  }
}
