import { useState } from 'preact/hooks';
import type { OperatorAccountView } from '../../../api/views/account-view.ts';
import type { KeyView } from '../../../api/views/key-view.ts';
import { type Base, readKeys } from '../api/account.ts';
import { switchAccountKey } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { KeyList } from '../keys/keys.tsx';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Shown } from '../ui/shown.tsx';
import { LostKey } from './lost-key.tsx';

/** The operator's list of an account's keys, which can be deactivated, activated again, and added to. */
export function AccountKeys({ of: account, base }: { of: OperatorAccountView; base: Base }) {
  const loaded = useLoad((signal) => readKeys(base, signal));
  const [asked, setAsked] = useState<KeyView>();
  const change = async (key: KeyView) => {
    const changed = await switchAccountKey(account.id, key.id, !key.is_active);
    loaded.replace(loaded.data?.map((known) => (known.id === key.id ? changed : known)) ?? []);
    announce(`The key “${key.name}” is ${changed.is_active ? 'active again' : 'deactivated'}.`);
  };
  return (
    <>
      <Shown of={loaded}>{(keys) => <KeyList keys={keys} onSwitch={setAsked} />}</Shown>
      {asked && (
        <Confirm
          title={`${asked.is_active ? 'Deactivate' : 'Reactivate'} “${asked.name}” of ${account.email}?`}
          verb={asked.is_active ? 'Deactivate' : 'Reactivate'}
          danger={asked.is_active}
          act={() => change(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            {asked.is_active
              ? 'Calls with this key are refused from now on, at every gateway. It can be reactivated, by you and by a key of the account that may manage.'
              : 'Whoever has its value can make calls with it again, with the settings that it has.'}
          </p>
        </Confirm>
      )}
      <LostKey of={account} onCreated={loaded.reload} />
    </>
  );
}
