import type { Adapter } from '../adapter.ts';

const BUILTIN_ROLES = ['prep', 'validator', 'closer'] as const;

/** `builtin:ROLE`: a program of Baton for a role that needs no model and so no tokens. */
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
        // The output comes from the project's commands, not from the role.
        finds_exit_signals: false,
        files: [],
      },
    };
  },
};
