import { proveWorkspaces } from './session-workspaces.cases.ts';

proveWorkspaces(() => true);
