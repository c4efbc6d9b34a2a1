export const USAGE = `Usage: baton agent play [options] SCRIPT
  --check          only check the script
  --acp            speak the Agent Client Protocol on standard input and output
  --stream-json    print events as Claude Code does with --output-format stream-json
  --settings FILE  hooks, in the format of Claude Code
  --keep DIR       keep the conversation there
  --session-id ID  the name of the conversation
  --resume ID      resume the conversation
  --prompted       begin with the first message
  --terminal       for a person: show the earlier messages, and ask for the next one
`;

export interface PlayOptions {
  readonly script: string;
  readonly settings: string | undefined;
  readonly keep: string | undefined;
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly isJson: boolean;
  readonly isPrompted: boolean;
  readonly isTerminal: boolean;
  readonly isCheck: boolean;
  readonly isAcp: boolean;
}

/** Returns a sentence about the mistake if the arguments are invalid. */
export function parsePlayOptions(argv: readonly string[]): PlayOptions | string {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  const scripts: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (SWITCHES.has(word)) switches.add(word);
    else if (!VALUES.has(word) && word.startsWith('--')) return `unknown option: ${word}`;
    else if (!VALUES.has(word)) scripts.push(word);
    else {
      const value = argv[(i += 1)];
      if (value === undefined) return `${word} needs a value`;
      values.set(word, value);
    }
  }
  const other = [...switches, ...values.keys()].find((word) => !WITH_ACP.has(word));
  if (switches.has('--acp') && other !== undefined) return `${other} does not go with --acp`;
  const [script, ...more] = scripts;
  if (script === undefined || more.length > 0) return 'one script is needed';
  return {
    script,
    settings: values.get('--settings'),
    keep: values.get('--keep'),
    sessionId: values.get('--resume') ?? values.get('--session-id') ?? 'scripted',
    isResume: values.has('--resume'),
    isJson: switches.has('--stream-json'),
    isPrompted: switches.has('--prompted'),
    isTerminal: switches.has('--terminal'),
    isCheck: switches.has('--check'),
    isAcp: switches.has('--acp'),
  };
}

const SWITCHES = new Set(['--check', '--acp', '--stream-json', '--prompted', '--terminal']);
const VALUES = new Set(['--settings', '--keep', '--session-id', '--resume']);
/** The options that work with ACP: there the client names the conversation, and there are no hooks. */
const WITH_ACP = new Set(['--acp', '--check', '--keep']);
