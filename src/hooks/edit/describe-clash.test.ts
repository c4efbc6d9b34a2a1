import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { appendToml } from './edit-toml.ts';

const MARK = '# Added by Baton.';
const STOP = { header: '[[hooks.Stop]]', lines: ['hooks = []'] };
const START = { header: '[[hooks.SessionStart]]', lines: ['hooks = []'] };
const SERVER = { header: '[mcp_servers.baton]', lines: ['command = "baton"'] };
const TRUST = { header: '[hooks.state."/x/config.toml:stop:0:0"]', lines: ['trusted_hash = "sha256:00"'] };

const HOOK = '{ hooks = [{ type = "command", command = "true" }] }';

describe('tables appended to inline settings', () => {
  it.each([
    ['an inline table of servers', 'a = 1\nmcp_servers = { x = { command = "y" } }\n', SERVER, 'line 2: mcp_servers'],
    ['an inline table of hooks', `hooks = { Stop = [${HOOK}] }\n`, STOP, 'line 1: hooks is'],
    ['a list below a header', `[hooks]\n\nStop = [\n  ${HOOK},\n]\n`, STOP, 'line 3: hooks.Stop'],
    ['a list under a dotted key', `model = "m"\nhooks.Stop = [${HOOK}]\n`, STOP, 'line 2: hooks.Stop'],
    ['an inline table of trust', '[hooks]\nstate = { "k" = { trusted_hash = "h" } }\n', TRUST, 'line 2: hooks.state'],
    ['a quoted key', `"hooks" = { Stop = [${HOOK}] }\n`, STOP, 'line 1: hooks is'],
  ])('%s: the refusal shows what to write instead, and then they can be added', (_, text, table, place) => {
    const refused = appendToml(text, MARK, [table]);
    if (refused.ok) throw new Error('it was added');
    expect(refused.what).toContain(place);
    expect(refused.what).toContain(table.header);
    const [, after = ''] = refused.what.split('write at the end of the file:\n');
    const [instead = ''] = after.split('\nThe meaning stays the same.');
    // The file without the clashing value, followed by the text that the refusal recommends.
    const mended = `${withoutValue(text)}\n${instead}\n`;
    expect(parse(mended)).toEqual(parse(text));
    expect(appendToml(mended, MARK, [table]).ok).toBe(true);
  });

  it('names each clashing value', () => {
    const text = `hooks = { Stop = [${HOOK}] }\nmcp_servers = { x = { command = "y" } }\n`;
    const refused = appendToml(text, MARK, [STOP, START, TRUST, SERVER]);
    const what = refused.ok ? '' : refused.what;
    expect(what).toMatch(/line 1: hooks is[^]*line 2: mcp_servers is/);
    expect(what.match(/write at the end/g)).toHaveLength(2);
  });
});

describe('tables appended to dotted keys', () => {
  it.each([
    ['a server', 'mcp_servers.x.command = "y"\n', SERVER],
    ['another hook', `hooks.PreToolUse = [${HOOK}]\n`, STOP],
    ['another list below a header', `[hooks]\nPreToolUse = [${HOOK}]\n`, STOP],
    ['trust', 'hooks.state."k".trusted_hash = "h"\n', TRUST],
  ])('are added: %s', (_, text, table) => {
    expect(appendToml(text, MARK, [table]).ok).toBe(true);
  });
});

/** Deletes the clashing value as a user would: up to the first line that ends a value. */
function withoutValue(text: string): string {
  return text.replace(/^"?(?:hooks|mcp_servers|Stop|state)"?(?:\.Stop)? = (?:\[\n[^]*?\n\]|.*)\n/m, '');
}
