import { OWN } from '../api/account.ts';
import { readSession } from '../api/people.ts';
import { useLoad } from '../api/use-load.ts';
import { session } from '../session/session.ts';
import { Empty } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { SpendFigures } from './figures.tsx';
import { LimitsLeft } from './limits-left.tsx';
import { SpendChart } from './spend-chart.tsx';
import { Troubles } from './troubles.tsx';
import { useDays } from './use-days.ts';

/** Home page of a member: the spend of the own keys, what is left of the own limits, and what went wrong. */
export function MemberHome() {
  const own = useLoad(readSession);
  const days = useDays(OWN);
  const membership = own.data?.memberships.find(({ account }) => account.id === session.value?.accountId);
  return (
    <PageFrame title="Home">
      <Shown of={own}>
        {() => (
          <>
            <dl className="figures">
              <SpendFigures days={days.data} isUnknown={days.error !== undefined} />
            </dl>
            <LimitsLeft of={membership?.limits ?? []} />
            {membership?.active_keys === 0 && (
              <Empty title="You have no active key">
                <p>
                  {membership.can_create_keys ? (
                    <a href="#/keys/new">Create key</a>
                  ) : (
                    'Ask an owner or admin of this account for one.'
                  )}
                </p>
              </Empty>
            )}
          </>
        )}
      </Shown>
      <SpendChart of={OWN} />
      <Troubles of={OWN} href="#/requests" />
    </PageFrame>
  );
}
