/** The patch of one file, up to a limit. */
export interface PatchSection {
  readonly text: string;
  readonly isCut: boolean;
}

export interface PatchLimits {
  /** The limit for the patch of one file, in characters. */
  readonly maxFileChars: number;
  /** The limit for all patches together, in characters. */
  readonly maxChars: number;
}

/**
 * Splits the output of `git diff` into one section per file, in linear time, and keeps only the start of each. In a
 * patch each line of a file has a prefix, and a line break in a path is quoted, so no content can look like the start
 * of a section.
 */
export class PatchSections {
  readonly #limits: PatchLimits;
  readonly #sections: { text: string; isCut: boolean }[] = [];
  #kept = 0;
  /** The start of a line that is still too short to classify. */
  #start = '';
  #isInLine = false;

  constructor(limits: PatchLimits) {
    this.#limits = limits;
  }

  get sections(): readonly PatchSection[] {
    return this.#sections;
  }

  /** Returns whether the limits leave room for more output. */
  push(chunk: string): boolean {
    for (let at = 0; at < chunk.length;) {
      const lineBreak = chunk.indexOf('\n', at);
      const end = lineBreak < 0 ? chunk.length : lineBreak + 1;
      this.#add(chunk.slice(at, end), lineBreak >= 0);
      at = end;
    }
    return this.#kept < this.#limits.maxChars;
  }

  #add(piece: string, endsLine: boolean): void {
    const text = this.#start + piece;
    this.#start = '';
    if (!this.#isInLine) {
      if (!endsLine && text.length < SECTION.length) {
        this.#start = text;
        return;
      }
      if (text.startsWith(SECTION)) this.#sections.push({ text: '', isCut: false });
    }
    this.#isInLine = !endsLine;
    this.#keep(text);
  }

  #keep(text: string): void {
    const section = this.#sections.at(-1);
    if (section === undefined || section.isCut) return;
    const { maxFileChars, maxChars } = this.#limits;
    const room = Math.min(maxFileChars - section.text.length, maxChars - this.#kept);
    section.text += text.slice(0, room);
    this.#kept += Math.min(text.length, room);
    if (text.length <= room) return;
    section.isCut = true;
    // Keeps whole lines only: half a line would look complete.
    section.text = section.text.slice(0, section.text.lastIndexOf('\n') + 1);
  }
}

const SECTION = 'diff --git ';
