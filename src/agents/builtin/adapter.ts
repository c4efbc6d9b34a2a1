import type { Adapter } from '../adapter.ts';

export const BUILTIN_ROLES = ['prep', 'validator', 'closer'] as const;
export type BuiltinRole = (typeof BUILTIN_ROLES)[number];

/** `builtin:ROLE`: a program of Baton's own that plays a role in which there is nothing to judge. It costs no tokens. */
export const builtinAdapter: Adapter = {
  runs: (run) => run.startsWith('builtin:'),
  prepare: ({ run }, { programs }) => {
    const role = run.slice('builtin:'.length).trim();
    if (!BUILTIN_ROLES.some((known) => known === role))
      return { ok: false, reason: `there is no built-in role \`${role}\`: there are ${BUILTIN_ROLES.join(', ')}` };
    return {
      ok: true,
      launch: {
        argv: [process.execPath, programs.builtin, role],
        env: {},
        output: 'text',
        input: 'none',
        prompt: null,
        // What the project's commands print is not what the role says.
        finds_exit_signals: false,
        files: [],
      },
    };
  },
};
