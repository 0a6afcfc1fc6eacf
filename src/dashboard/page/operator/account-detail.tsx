import { useState } from 'preact/hooks';
import type { CreatedKeyView } from '../../../domain/key-view.ts';
import { createAccountKey, readOneAccount } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { credits } from '../format/credits.ts';
import { CreatedKey } from '../keys/created-key.tsx';
import { FailureNote } from '../ui/note.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Section } from '../ui/section.tsx';
import { Shown } from '../ui/shown.tsx';
import { Time } from '../ui/time.tsx';
import { AccountSettings } from './account-settings.tsx';
import { AccountStatus } from './account-status.tsx';
import { ChangeBalance } from './change-balance.tsx';
import { SwitchAccount } from './switch-account.tsx';

/** One account, as its operator sees and changes it. */
export function AccountDetail({ id }: { id: number }) {
  const loaded = useLoad((signal) => readOneAccount(id, signal));
  const { data } = loaded;
  return (
    <PageFrame
      title={data?.email ?? 'Account'}
      back={{ href: '#/accounts', name: 'Accounts' }}
      actions={data && <SwitchAccount of={data} onChanged={loaded.replace} />}
    >
      <Shown of={loaded}>
        {(account) => (
          <>
            <p class="key-line">
              <AccountStatus of={account} />{' '}
              <span>
                No. {account.id}, created <Time at={account.created_at} />
              </span>
            </p>
            <dl class="figures">
              <div class="figure">
                <dt>Balance</dt>
                <dd class="figure-value">{credits(account.credits_balance)}</dd>
              </div>
              <div class="figure">
                <dt>Held</dt>
                <dd class="figure-value">{credits(account.credits_held)}</dd>
              </div>
            </dl>
            <div class="columns">
              <ChangeBalance
                id={account.id}
                onBalance={(credits_balance) => loaded.replace({ ...account, credits_balance })}
              />
              <AccountSettings of={account} onChanged={loaded.replace} />
            </div>
            <LostKey id={account.id} />
          </>
        )}
      </Shown>
    </PageFrame>
  );
}

/** A key for an owner who lost theirs. */
function LostKey({ id }: { id: number }) {
  const [created, setCreated] = useState<CreatedKeyView>();
  const action = useAction(async () => setCreated(await createAccountKey(id, 'Made by the operator')));
  return (
    <Section title="Keys">
      <p>An owner makes keys with a key. For one who lost theirs, make a new one that may manage.</p>
      <FailureNote error={action.error} />
      <button type="button" disabled={action.isBusy} onClick={() => action.run()}>
        Create key for the owner
      </button>
      {created && <CreatedKey of={created} onDone={() => setCreated(undefined)} />}
    </Section>
  );
}
