import { describe, expect, it } from 'vitest';
import { parseExitProtocol } from './exit-protocol-setting.ts';

describe('exit_protocol in baton.toml', () => {
  it.each([
    ['exit_protocol = true', true],
    ['# a comment\r\n\r\n  exit_protocol=true # on\r\n[agents.a]\r\n', true],
    ['"exit_protocol" = true', true],
    ['text = """\nexit_protocol = true\n"""\nother = 1', false],
    ["text = '''one line'''\nexit_protocol = true", true],
    ['exit_protocol = false', false],
    ['exit_protocol = "true"', false],
    ['exit_protocol = True', false],
    ['exit_protocol = true false', false],
    ['# exit_protocol = true', false],
    ['[limits]\nexit_protocol = true', false],
    ['my_exit_protocol = true', false],
    ['', false],
  ])('%j is %s', (toml, expected) => {
    expect(parseExitProtocol(toml)).toBe(expected);
  });
});
