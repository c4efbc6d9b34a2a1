import type { Adapter } from '../adapter.ts';

export const BUILTIN_ROLES = ['prep', 'validator', 'closer'] as const;
export type BuiltinRole = (typeof BUILTIN_ROLES)[number];

/** `builtin:ROLE`: a program of Baton for a role that needs no model, and so no tokens. */
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
        // The output is that of the project's commands, not the role's.
        finds_exit_signals: false,
        files: [],
      },
    };
  },
};
