import { project } from '../../app/router.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Split } from '../../kit/split.tsx';
import { TaskDetail } from './task-detail.tsx';
import { TaskList } from './task-list.tsx';

export function Tasks({ route: { id, query } }: ViewProps) {
  return (
    <Split
      view="tasks"
      label="Tasks"
      query={query}
      list={<TaskList key={project.value} query={query} chosen={id} />}
      detail={id === undefined ? undefined : <TaskDetail key={id} id={id} />}
    />
  );
}
