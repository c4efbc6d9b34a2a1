import type { FunctionComponent } from 'preact';
import type { ViewProps } from '../app/view-props.ts';
import type { ViewName } from '../app/router.ts';
import { Fleet } from './fleet/fleet.tsx';
import { Inbox } from './inbox/inbox.tsx';
import { Ledger } from './ledger/ledger.tsx';
import { Session } from './session/session.tsx';
import { Tasks } from './tasks/tasks.tsx';
import { Work } from './work/work.tsx';

export const VIEWS: Readonly<Record<ViewName, FunctionComponent<ViewProps>>> = {
  inbox: Inbox,
  work: Work,
  session: Session,
  tasks: Tasks,
  ledger: Ledger,
  fleet: Fleet,
};
