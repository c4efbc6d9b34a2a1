import type { ViewProps } from '../../app/view-props.ts';
import { Show } from '../../kit/loading.tsx';

export function Work({ status }: ViewProps) {
  return (
    <Show loaded={status} what="the status">
      {(value) => <p>{value.summary}</p>}
    </Show>
  );
}
