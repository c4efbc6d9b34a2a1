import { toBase64, toHex } from '../../src/ledger/format/bytes.ts';
import type { JsonObject } from '../../src/ledger/format/canonical-json.ts';
import { signCheckpoint } from '../../src/ledger/format/checkpoint.ts';
import { type Entry, renderEntry } from '../../src/ledger/format/entry.ts';
import { Frontier, leafHash } from '../../src/ledger/format/merkle.ts';
import { renderEntryLine } from '../../src/ledger/verify/export-line.ts';
import { KEY_ADDED, KEY_REVOKED, renderProjectKey } from '../../src/ledger/verify/keyring.ts';
import { nodeSha256 } from '../../src/ledger/writer/keys.ts';
import { testSigner } from '../../src/ledger/writer/ledger.cases.ts';

/** The keys of the ledger are 1 and 2. Key 9 belongs to nobody that the ledger trusts. */
const FOREIGN = 9;

/** Writes exports as an attacker can: all hashes, links and trees are correct, and any key signs anything. */
class Forger {
  readonly #project: string;
  readonly #tree = new Frontier(nodeSha256);
  readonly lines: string[] = [];
  #prev = '0'.repeat(64);
  #signed = 0;
  readonly #numbers = new Map<string, number>();
  #isNumbered = false;

  constructor(project = 'demo') {
    this.#project = project;
  }

  /** From here on entries are of version 2. */
  numbers(): this {
    this.#isNumbered = true;
    return this;
  }

  /** The next entry is of version 1 again. */
  forgets(): this {
    this.#isNumbered = false;
    return this;
  }

  /** The next entry of the task has the same number as the one before it, or leaves numbers out. */
  skips(count: number): this {
    this.#numbers.set('T001', (this.#numbers.get('T001') ?? 0) + count);
    return this;
  }

  #numbersOf({ task_id: id }: JsonObject): Pick<Entry, 'v' | 'tasks'> {
    if (!this.#isNumbered) return { v: 1 };
    if (typeof id !== 'string') return { v: 2, tasks: {} };
    this.#numbers.set(id, (this.#numbers.get(id) ?? 0) + 1);
    return { v: 2, tasks: { [id]: this.#numbers.get(id) ?? 0 } };
  }

  entry(type: string, data: JsonObject, actor = 'operator:ada', numbers = this.#numbersOf(data)): this {
    const seq = this.#tree.size + 1;
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();
    const text = renderEntry({
      ...numbers,
      project: this.#project,
      seq,
      prev: this.#prev,
      at,
      actor,
      type,
      cause: null,
      data,
    });
    const hash = leafHash(nodeSha256, Buffer.from(text));
    this.#tree.add(hash);
    this.#prev = toHex(hash);
    this.lines.push(renderEntryLine(text, hash));
    return this;
  }

  adds(key: number): this {
    return this.entry(KEY_ADDED, { key: keyOf(key, this.#project) });
  }

  revokes(key: number): this {
    return this.entry(KEY_REVOKED, { key: keyOf(key, this.#project) });
  }

  works(): this {
    return this.entry('TaskUpdated', { task_id: 'T001', progress: this.#tree.size, notes: 'Schritt — done ✓' });
  }

  /** The forged completion. */
  completes(): this {
    return this.entry('PhaseMoved', { task_id: 'T001', from: 'REVIEW', to: 'COMPLETED' }, 'system:merge');
  }

  signs(key: number, of = this.#project): this {
    return this.note(this.checkpoint(key, of));
  }

  checkpoint(key: number, of = this.#project): string {
    const { size } = this.#tree;
    const note = signCheckpoint(nodeSha256, of, { size, root: this.#tree.root() }, this.#signed, testSigner(key));
    this.#signed = size;
    return note;
  }

  note(checkpoint: string): this {
    this.lines.push(JSON.stringify({ checkpoint }));
    return this;
  }
}

export function keyOf(key: number, project = 'demo'): string {
  return renderProjectKey(nodeSha256, project, testSigner(key).publicKey);
}

/** An export with two keys, one of which is revoked, and added again at the end. Version 2 begins in the middle. */
export function honestLines(): string[] {
  return twoKeys().works().revokes(2).signs(2).works().numbers().adds(2).signs(1).works().works().signs(2).lines;
}

function start(): Forger {
  return new Forger().adds(1).works();
}

/** After this both keys are trusted. */
function twoKeys(): Forger {
  return start().adds(2).signs(1).works();
}

/** Every way to make a foreign or revoked key count. */
export const FORGED: Readonly<Record<string, () => readonly string[]>> = {
  'a foreign key adds itself and signs the end': () => start().adds(FOREIGN).completes().signs(FOREIGN).lines,
  'a foreign key adds itself behind a real checkpoint': () =>
    start().signs(1).adds(FOREIGN).completes().signs(FOREIGN).lines,
  'a foreign key signs the checkpoint that adds it, then the end': () =>
    start().signs(1).adds(FOREIGN).signs(FOREIGN).completes().signs(FOREIGN).lines,
  'a foreign key adds itself in the first commit': () =>
    new Forger().adds(1).adds(FOREIGN).completes().signs(FOREIGN).lines,
  'a foreign key revokes the real one': () =>
    start().signs(1).adds(FOREIGN).revokes(1).signs(FOREIGN).completes().signs(FOREIGN).lines,
  'a foreign key signs without being added': () => start().signs(1).completes().signs(FOREIGN).lines,
  'a foreign key adds the second, which signs the end': () =>
    start().signs(1).adds(2).signs(FOREIGN).completes().signs(2).lines,
  'the added key signs its own addition': () => start().adds(2).completes().signs(2).lines,
  'a revoked key signs after its revocation': () => twoKeys().revokes(2).signs(1).completes().signs(2).lines,
  'a revoked key signs its own return': () => twoKeys().revokes(2).signs(1).adds(2).signs(2).completes().signs(2).lines,
  'a revoked key adds a third': () => twoKeys().revokes(2).signs(1).adds(FOREIGN).signs(2).signs(FOREIGN).lines,
  'a foreign key under the id of the real one': () => {
    const [name = '', id = ''] = keyOf(1).split('+');
    const key = toBase64(Uint8Array.of(1, ...testSigner(FOREIGN).publicKey));
    return start()
      .signs(1)
      .entry(KEY_ADDED, { key: `${name}+${id}+${key}` })
      .signs(1)
      .completes()
      .signs(FOREIGN).lines;
  },
  'a foreign key of another project': () =>
    start()
      .entry(KEY_ADDED, { key: keyOf(FOREIGN, 'other') })
      .signs(1)
      .completes()
      .signs(FOREIGN).lines,
  'the real key signs for another project': () => start().completes().signs(1, 'other').lines,
  'the signature of another text beside a foreign one': () => {
    const real = start().checkpoint(1);
    const forger = start().completes();
    const forged = forger.checkpoint(FOREIGN);
    return forger.note(`${forged}${real.slice(real.indexOf('\n\n') + 2)}`).lines;
  },
  'the signature is empty': () => {
    const forger = start().completes();
    return forger.note(forger.checkpoint(1).replace(/\n\n[^]*$/, '\n\n')).lines;
  },
  'the signature is all zeros': () => {
    const forger = start().completes();
    const id = Buffer.from(keyOf(1).split('+')[1] ?? '', 'hex');
    const zeros = toBase64(Uint8Array.of(...id, ...new Uint8Array(64)));
    return forger.note(forger.checkpoint(1).replace(/\n\n[^]*$/, `\n\n— baton/demo ${zeros}\n`)).lines;
  },
  'the order of the group is added to the signature': () => {
    const forger = start().completes();
    const note = forger.checkpoint(1);
    const bytes = Buffer.from(note.trimEnd().split(' ').at(-1) ?? '', 'base64');
    const [low, high] = [bytes.subarray(0, 36), bytes.subarray(36)];
    const sum = BigInt(`0x${Buffer.from(high.toReversed()).toString('hex')}`) + ORDER;
    const other = Buffer.from(sum.toString(16).padStart(64, '0'), 'hex').toReversed();
    return forger.note(`${note.slice(0, note.lastIndexOf(' ') + 1)}${toBase64(Buffer.concat([low, other]))}\n`).lines;
  },
  'an entry of the task is left out': () => start().numbers().works().skips(1).completes().signs(1).lines,
  'two entries of the task have one number': () => start().numbers().works().skips(-1).completes().signs(1).lines,
  'the numbers begin with 2': () => start().numbers().skips(1).completes().signs(1).lines,
  'an entry of version 1 follows one of version 2': () =>
    start().numbers().works().forgets().completes().signs(1).lines,
  'an entry about a task has no number': () =>
    start().entry('PhaseMoved', { task_id: 'T001', to: 'COMPLETED' }, 'system:merge', { v: 2, tasks: {} }).signs(1)
      .lines,
  'the entries after the last checkpoint': () => start().signs(1).completes().lines,
};

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** This checkpoint revokes a key that the next one adds again, so the export is correct without it. */
const OMITTABLE = 8;

/** Every kind of change to the honest lines. `step`: the distance between changed bytes. */
export function* tampered(step: number): Generator<readonly [string, readonly string[]]> {
  const lines = honestLines();
  for (const [i, line] of lines.entries()) {
    const bytes = Buffer.from(line);
    for (let at = i % step; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
      yield [`line ${i + 1}, byte ${at}`, lines.with(i, changed.toString('utf8'))];
    }
    if (i + 1 !== OMITTABLE) yield [`line ${i + 1} removed`, lines.toSpliced(i, 1)];
    yield [`line ${i + 1} twice`, lines.toSpliced(i, 0, line)];
    if (i > 0) yield [`lines ${i} and ${i + 1} swapped`, lines.with(i, lines[i - 1] ?? '').with(i - 1, line)];
    if (i < lines.length - 1) yield [`a space in line ${i + 1}`, lines.with(i, line.replace(':', ': '))];
  }
  // An export that ends with an earlier checkpoint is correct, because nothing after it was promised.
  const ends = lines.flatMap((line, i) => (line.startsWith('{"checkpoint"') ? [i + 1] : []));
  for (let size = 0; size < lines.length; size += 1)
    if (!ends.includes(size)) yield [`only ${size} lines`, lines.slice(0, size)];
  for (const a of ends)
    for (const b of ends)
      if (a !== b) yield [`checkpoint ${b} in place of ${a}`, lines.with(a - 1, lines[b - 1] ?? '')];
}
