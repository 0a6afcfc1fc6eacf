import type { Base } from '../api/account.ts';
import { type CallFilter, type ListedCall, NO_FILTER, readCalls } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { agoWords } from '../format/duration.ts';
import { CallStatus } from '../requests/request-table.tsx';
import { Ago } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';

const SHOWN = 5;

/** The last refused or failed calls with their reasons, each a link to the request. */
export function Troubles({ of: base, href }: { of: Base; href: string }) {
  const loaded = useLoad(async (signal) => {
    const read = (result: CallFilter['result']) =>
      readCalls(base, { ...NO_FILTER, result }, '', SHOWN, signal);
    const [refused, failed] = await Promise.all([read('refused'), read('failed')]);
    return [...refused.calls, ...failed.calls]
      .toSorted((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
      .slice(0, SHOWN);
  }, base);
  return (
    <section className="card">
      <h2>Last refused or failed calls</h2>
      <Shown of={loaded}>
        {(calls) =>
          calls.length === 0 ? (
            <p className="hint">No refused or failed calls.</p>
          ) : (
            <ul className="troubles">
              {calls.map((call) => (
                <Trouble key={call.id} of={call} href={href} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

function Trouble({ of: call, href }: { of: ListedCall; href: string }) {
  return (
    <li>
      <a href={`${href}?request=${encodeURIComponent(call.id)}`}>
        <CallStatus of={call} />
      </a>
      <span className="trouble-time">
        <Ago at={call.created_at} words={agoWords(call.created_at)} />
      </span>
      <p className="hint">
        {call.model && <>{call.model}: </>}
        {call.message ?? 'No message was recorded.'}
      </p>
    </li>
  );
}
