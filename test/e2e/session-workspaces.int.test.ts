import { proveWorkspaces } from './session-workspaces.cases.ts';

proveWorkspaces((name) => name === 'untracked' || name === 'unpushed');
