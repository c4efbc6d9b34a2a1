import fc from 'fast-check';

/**
 * Generates settings as users write them: any formatting, comments, other hooks, trailing commas, both line ends, with
 * or without a final one.
 */
export function settingsText(): fc.Arbitrary<string> {
  return fc
    .record({ value: settings(), look: look(), seed: fc.infiniteStream(fc.nat(999)) })
    .map(({ value, look: how, seed }) => {
      const picks = seed[Symbol.iterator]();
      const text = new Writer(how, () => picks.next().value as number).write(value, '');
      return `${how.mark ? '\uFEFF' : ''}${text}${how.ending}`.replaceAll('\n', how.lineEnd);
    });
}

/** Generates TOML settings for Codex in the same variety. */
export function tomlText(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    'model = "gpt-5"',
    '# a comment',
    '',
    'text = """\n[not a table]\n# not a comment\n"""',
    'list = [\n  1, # one\n  [2],\n]',
    'mcp_servers.dotted.command = "x"',
    'hooks.PreToolUse = [{ hooks = [{ type = "command", command = "true" }] }]',
    'hooks.state."/x:stop:0:0".trusted_hash = "sha256:00"',
  );
  const table = fc.constantFrom(
    '[model_providers.x]\nname = "x"',
    '[projects."/a b"]\ntrust_level = "trusted" # yes',
    '[[hooks.Stop]]\nhooks = [{ type = "command", command = "true" }]',
    '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "b"',
    '[features]\n  plugins = false\n',
  );
  return fc
    .record({
      top: fc.uniqueArray(piece, { maxLength: 4 }),
      tables: fc.uniqueArray(table, { maxLength: 5 }),
      ending: fc.constantFrom('', '\n', '\n\n', '\n# the end'),
      lineEnd: fc.constantFrom('\n', '\r\n'),
      mark: fc.boolean(),
    })
    .map(({ top, tables, ending, lineEnd, mark }) => {
      const text = [...top, ...tables].join('\n') + ending;
      return `${mark ? '\uFEFF' : ''}${text.replaceAll('\n', lineEnd)}`;
    });
}

type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

interface Look {
  readonly lineEnd: string;
  readonly unit: string;
  readonly ending: string;
  readonly mark: boolean;
  /** Frequency, out of ten, of one-line values, comments and trailing commas. */
  readonly oneLine: number;
  readonly comments: number;
  readonly commas: number;
}

function look(): fc.Arbitrary<Look> {
  return fc.record({
    lineEnd: fc.constantFrom('\n', '\r\n'),
    unit: fc.constantFrom('  ', '    ', '\t', ''),
    ending: fc.constantFrom('', '\n', '\n\n', ' ', '\n// the end\n'),
    mark: fc.boolean(),
    oneLine: fc.constantFrom(0, 3, 10),
    comments: fc.constantFrom(0, 3),
    commas: fc.constantFrom(0, 3),
  });
}

function settings(): fc.Arbitrary<Value> {
  const { tree } = fc.letrec<{ tree: Value }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Value>('', 'a "quoted" // text', '/* x */', 'ünï', 1, -2.5, true, null),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 5 }), tie('tree'), { maxKeys: 3 }),
    ),
  }));
  const group = fc.constant<Value>({ matcher: 'x', hooks: [{ type: 'command', command: 'true' }] });
  const groups = fc.array(group, { maxLength: 2 });
  const hooks = fc.record(
    { Stop: groups, SessionStart: groups, AfterAgent: groups, Other: groups },
    { requiredKeys: [] },
  );
  const servers = fc.dictionary(
    fc.constantFrom('one', 'two'),
    tree.map((value) => ({ value })),
    { maxKeys: 2 },
  );
  const projects = fc.constantFrom<Value>({}, { '/p': {} }, { '/p': { mcpServers: {} } }, { '/q': { mcpServers: {} } });
  return fc.record(
    { first: tree, hooks, mcpServers: servers, projects, model: fc.constant('opus'), last: tree },
    { requiredKeys: [] },
  );
}

class Writer {
  readonly #look: Look;
  readonly #pick: () => number;

  constructor(how: Look, pick: () => number) {
    this.#look = how;
    this.#pick = pick;
  }

  write(value: Value, indent: string): string {
    if (Array.isArray(value))
      return this.#list(
        '[',
        ']',
        value.map((item: Value) => (deeper) => this.write(item, deeper)),
        indent,
      );
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(
      ([key, member]) =>
        (deeper: string) =>
          `${JSON.stringify(key)}:${this.#one(0) ? '' : ' '}${this.write(member, deeper)}`,
    );
    return this.#list('{', '}', members, indent);
  }

  #list(open: string, close: string, items: readonly ((indent: string) => string)[], indent: string): string {
    const deeper = indent + this.#look.unit;
    const isOneLine = this.#often(this.#look.oneLine);
    if (items.length === 0) return this.#empty(open, close, indent);
    const last = items.length - 1;
    const written = items.map((item, n) => {
      const comma = n < last || this.#often(this.#look.commas) ? ',' : '';
      return `${item(deeper)}${comma}`;
    });
    if (isOneLine) return `${open}${this.#one(1) ? ' ' : ''}${written.join(' ')}${this.#one(1) ? ' ' : ''}${close}`;
    const lines = written.map((line) => `\n${this.#comment(deeper)}${deeper}${line}${this.#note()}`);
    return `${open}${lines.join('')}\n${indent}${close}`;
  }

  #empty(open: string, close: string, indent: string): string {
    const inside =
      ['', ' ', `\n${indent}`, `\n${indent}// nothing yet\n${indent}`, ' /* none */ '][this.#pick() % 5] ?? '';
    return `${open}${inside}${close}`;
  }

  #comment(indent: string): string {
    return this.#often(this.#look.comments) ? `${indent}// "hooks": {\n` : '';
  }

  #note(): string {
    return this.#often(this.#look.comments) ? (this.#one(1) ? ' // why' : ' /* why */') : '';
  }

  #often(ofTen: number): boolean {
    return this.#pick() % 10 < ofTen;
  }

  #one(rest: number): boolean {
    return this.#pick() % 2 === rest;
  }
}
