import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../test/fuzz/dialects.ts';
import { parseMission } from './mission.ts';
import { parseResult } from './result.ts';

const examples = DIALECTS.flatMap((dialect) => dialect.samples.map((sample) => ({ dialect, ...sample })));

/** Unchanged examples from the source documents, or examples of what a document describes if it has none. */
describe.each(examples)('example $dialect.name/$file', ({ dialect, text }) => {
  it('is accepted', () => {
    expect(dialect.parse(text)).toMatchObject({ ok: true });
  });

  it('is accepted as bytes, and with a byte order mark', () => {
    const value = dialect.parse(text);
    expect(dialect.parse(new TextEncoder().encode(text))).toEqual(value);
    expect(dialect.parse(new TextEncoder().encode(`\ufeff${text}`))).toEqual(value);
    expect(dialect.parse(`\ufeff${text}`)).toEqual(value);
  });

  it('is the same message after rendering and parsing', () => {
    const parsed = dialect.parse(text);
    expect(parsed.ok && dialect.parse(dialect.render(parsed.value))).toEqual(parsed);
  });
});

describe('the examples', () => {
  it('cover every dialect', () => {
    expect(DIALECTS.filter(({ samples }) => samples.length === 0)).toEqual([]);
  });

  const inJson = examples.filter(({ file, dialect }) => file.endsWith('.json') && dialect.name !== 'stop-hook/input');
  it.each(inJson)('parse to the value that JSON.parse reads: $dialect.name/$file', ({ dialect, text }) => {
    expect(dialect.parse(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('parse to the mission of the document', () => {
    expect(parseMission(textOf('mission', 'mission.yaml'))).toEqual({
      ok: true,
      value: {
        version: '1',
        task_id: 'T042',
        epic_id: 'E005',
        prd_id: 'PRD-001',
        instruction: 'Implement the user authentication module.\n',
        context: {
          dev_md: 'path/to/DEV.md',
          epic_file: 'path/to/epic.md',
          task_file: 'path/to/task.md',
          memory: 'path/to/memory.md',
          toolset: 'path/to/TOOLSET.md',
        },
        constraints: { max_files: 10, no_git_commit: true, no_new_deps: false },
        timeout: 600,
      },
    });
  });

  it('parse to the result of the document', () => {
    expect(parseResult(textOf('result', 'result.yaml'))).toEqual({
      ok: true,
      value: {
        version: '1',
        task_id: 'T042',
        status: 'completed',
        files_modified: [
          { path: 'src/auth/login.js', action: 'created' },
          { path: 'src/auth/logout.js', action: 'modified' },
        ],
        log: [
          { level: 'info', message: 'Created authentication module', timestamp: '2025-01-15T10:30:00Z' },
          { level: 'tip', message: 'Use bcrypt for password hashing', timestamp: '2025-01-15T10:35:00Z' },
        ],
        issues: [],
        completed_at: '2025-01-15T10:45:00Z',
      },
    });
  });
});

function textOf(dialect: string, file: string): string {
  const found = examples.find((example) => example.dialect.name === dialect && example.file === file);
  if (found === undefined) throw new Error(`no example ${dialect}/${file}`);
  return found.text;
}
