import { useState } from 'preact/hooks';
import type { ViewProps } from '../../app/view-props.ts';
import { Split } from '../../kit/split.tsx';
import { FileCheck } from './file-check.tsx';
import { checkDropped } from './checked-file.ts';
import { EntryDetail } from './entry-detail.tsx';
import { EntryList } from './entry-list.tsx';
import { Filters } from './filters.tsx';
import { parseFilter } from './filter.ts';
import { LedgerHead } from './ledger-head.tsx';
import { useOwnStanding } from './own-standing.ts';
import { Past } from './past.tsx';

/** Every entry of the ledger, its verification in this browser, proofs, and the state at any entry. */
export function Ledger({ route }: ViewProps) {
  const [isOver, setOver] = useState(false);
  const own = useOwnStanding();
  const head = own?.seq ?? 0;
  const filter = parseFilter(route.query);
  const chosen = /^[1-9][0-9]{0,15}$/.test(route.id ?? '') ? Number(route.id) : undefined;
  return (
    <div
      class={isOver ? 'ledger drop' : 'ledger'}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes('Files') !== true) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => event.target === event.currentTarget && setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file === undefined) return;
        event.preventDefault();
        checkDropped(file);
      }}
    >
      <Split
        view="ledger"
        label="Ledger"
        list={
          <>
            <LedgerHead own={own} />
            <Filters filter={filter} />
            {own === undefined ? (
              <p class="loading">Loading the entries…</p>
            ) : (
              <EntryList key={own.id} filter={filter} head={head} chosen={chosen} broken={own.verified.broken?.seq} />
            )}
          </>
        }
        detail={detailOf(route.id, route.part, chosen, head)}
      />
    </div>
  );
}

function detailOf(id: string | undefined, part: string | undefined, chosen: number | undefined, head: number) {
  if (id === 'check') return <FileCheck />;
  if (chosen === undefined) return undefined;
  return part === 'state' ? <Past seq={chosen} head={head} /> : <EntryDetail key={chosen} seq={chosen} head={head} />;
}
