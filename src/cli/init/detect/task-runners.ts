import { type CommandName, commandsOf, type Detector, firstOf } from './toolchain.ts';

/** Names of targets and recipes that stand for a command, the most usual first. */
const TARGETS: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  build: ['build'],
  lint: ['lint'],
  types: ['typecheck'],
  test: ['test', 'tests', 'check'],
};

const detectMake: Detector = (files) => {
  const from = firstOf(files, 'GNUmakefile', 'makefile', 'Makefile');
  if (from === undefined) return undefined;
  // `test := x` and `test::=x` are variables.
  const targets = [...files.read(from).matchAll(/^([A-Za-z][\w-]*(?: +[A-Za-z][\w-]*)*) *::?(?![:=])/gm)];
  const commands = pick(
    'make',
    targets.flatMap(([, names = '']) => names.split(/ +/)),
  );
  return { id: 'make', title: 'Make', from, commands };
};

const detectJust: Detector = (files) => {
  const from = firstOf(files, 'justfile', 'Justfile', '.justfile');
  if (from === undefined) return undefined;
  const recipes = [...files.read(from).matchAll(/^@?([A-Za-z][\w-]*)(?: [^:\n]*)?:(?!=)/gm)];
  return {
    id: 'just',
    title: 'just',
    from,
    commands: pick(
      'just',
      recipes.map(([, name = '']) => name),
    ),
  };
};

function pick(program: string, found: readonly string[]): ReturnType<typeof commandsOf> {
  const targets = Object.entries(TARGETS).map(([name, usual]) => {
    const target = usual.find((each) => found.includes(each));
    return [name, target === undefined ? undefined : `${program} ${target}`] as const;
  });
  return commandsOf(Object.fromEntries(targets));
}

/** These only add commands that no language has, because their targets usually run the same ones. */
export const TASK_RUNNERS: readonly Detector[] = [detectMake, detectJust];
