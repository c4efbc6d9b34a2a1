import type { ListedProjectView } from '../api/operations/project.ts';
import { operationCommand } from './operation-command.ts';
import { renderTable } from './table.ts';

export const projectListCommand = operationCommand({
  examples: ['baton project list', 'baton project list --json'],
  operation: 'projects_list',
  input: () => ({ value: {} }),
  show: ({ projects }) => (projects.length === 0 ? 'No projects.\n' : renderTable([HEADINGS, ...projects.map(rowOf)])),
});

const HEADINGS = ['PROJECT', 'STATE', 'PATH'];

function rowOf({ name, path, summary }: ListedProjectView): readonly string[] {
  return [name, summary, path];
}
