import { useState } from 'react';
import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { type Base, readKeys } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { KeyList } from '../keys/keys.tsx';
import { ReadOnlySettings } from '../keys/read-only-settings.tsx';
import { RotateDialog } from '../keys/rotate-dialog.tsx';
import { SwitchDialog } from '../keys/switch-dialog.tsx';
import { announce } from '../ui/announcements.tsx';
import { Shown } from '../ui/shown.tsx';
import { SidePanel } from '../ui/side-panel.tsx';
import { LostKey } from './lost-key.tsx';

/** The operator's list of an account's keys, whose settings can be read, and which can be deactivated, activated again, rotated, and added to. */
export function AccountKeys({ of: account, base }: { of: OperatorAccountView; base: Base }) {
  const loaded = useLoad((signal) => readKeys(base, signal));
  const [opened, setOpened] = useState<KeyView>();
  const [switching, setSwitching] = useState<KeyView>();
  const [rotating, setRotating] = useState<KeyView>();
  const path = `/api/admin/accounts/${account.id}/keys/` as const;
  const onSwitched = (switched: KeyView) => {
    loaded.replace(loaded.data?.map((known) => (known.id === switched.id ? switched : known)) ?? []);
    announce(`Key “${switched.name}” ${switched.is_active ? 'reactivated' : 'deactivated'}.`);
  };
  return (
    <>
      <Shown of={loaded}>
        {(keys) => (
          <KeyList
            of={base}
            keys={keys}
            actions={{ path, onOpen: setOpened, onSwitch: setSwitching, onRotate: setRotating }}
            onEnded={loaded.reload}
          />
        )}
      </Shown>
      {opened && (
        <SidePanel title={opened.name} onClose={() => setOpened(undefined)}>
          <ReadOnlySettings of={opened} />
        </SidePanel>
      )}
      {switching && (
        <SwitchDialog
          of={switching}
          path={path}
          owner={account.email}
          onSwitched={onSwitched}
          onClose={() => setSwitching(undefined)}
        >
          <p>
            {switching.is_active
              ? 'Calls with this key are refused at every gateway. You, or a managing key of the account, can reactivate it.'
              : 'Anyone who has its value can make calls with it again, with its current settings.'}
          </p>
        </SwitchDialog>
      )}
      {rotating && (
        <RotateDialog
          of={rotating}
          path={path}
          owner={account.email}
          onRotated={loaded.reload}
          onClose={() => setRotating(undefined)}
        />
      )}
      <LostKey of={account} onCreated={loaded.reload} />
    </>
  );
}
