import type { Base } from '../api/account.ts';
import { type CallFilter, type ListedCall, NO_FILTER, readCalls } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { agoWords } from '../format/duration.ts';
import { CallStatus } from '../requests/request-table.tsx';
import { Ago } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';

const SHOWN = 5;
/** Calls of each result that are read: equal ones share a line. */
const READ = 50;

/** The last refused or failed calls with their reasons, each a link to the newest request. Equal calls share a line. */
export function Troubles({ of: base, href }: { of: Base; href: string }) {
  const loaded = useLoad(async (signal) => {
    const read = (result: CallFilter['result']) =>
      readCalls(base, { ...NO_FILTER, result }, '', READ, signal);
    const [refused, failed] = await Promise.all([read('refused'), read('failed')]);
    const calls = [...refused.calls, ...failed.calls].toSorted(
      (one, other) => Date.parse(other.created_at) - Date.parse(one.created_at),
    );
    return withEqualOnesCounted(calls).slice(0, SHOWN);
  }, base);
  return (
    <section className="card">
      <h2>Last refused or failed calls</h2>
      <Shown of={loaded}>
        {(calls) =>
          calls.length === 0 ? (
            <p className="hint">No refused or failed calls.</p>
          ) : (
            <>
              {calls.some(({ repeated }) => repeated > 1) && (
                <p className="hint">Equal calls among the last {READ} share a line.</p>
              )}
              <ul className="troubles">
                {calls.map((call) => (
                  <Trouble key={call.id} of={call} href={href} />
                ))}
              </ul>
            </>
          )
        }
      </Shown>
    </section>
  );
}

/** The newest of the calls that a key repeated with the same result, with their number in `repeated`. */
function withEqualOnesCounted(newestFirst: readonly ListedCall[]): ListedCall[] {
  const equal = Map.groupBy(newestFirst, ({ key_id, model, status, code }) =>
    JSON.stringify([key_id, model, status, code]),
  );
  return [...equal.values()].flatMap(([newest, ...older]) =>
    newest
      ? { ...newest, repeated: older.reduce((sum, { repeated }) => sum + repeated, newest.repeated) }
      : [],
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
