import type { ViewProps } from '../../app/view-props.ts';
import { Split } from '../../kit/split.tsx';
import { RunPage } from './run-page.tsx';
import { WorkList } from './work-list.tsx';

/** Workflows, pipelines and lone agents in one table, with the chosen run beside it. */
export function Work({ route }: ViewProps) {
  return (
    <Split
      view="work"
      label="Work"
      list={<WorkList route={route} />}
      detail={route.id === undefined ? undefined : <RunPage key={route.id} route={route} />}
    />
  );
}
