import { useState } from 'react';
import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { changeAccount } from '../api/operator.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';

/** Button that deactivates an account, or activates it again, after a question. */
export function SwitchAccount({
  of: account,
  onChanged,
}: {
  of: OperatorAccountView;
  onChanged: (account: OperatorAccountView) => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const verb = account.is_active ? 'Deactivate' : 'Reactivate';
  const act = async () => {
    onChanged(await changeAccount(account.id, { is_active: !account.is_active }));
    announce(account.is_active ? 'Account deactivated.' : 'Account reactivated.');
  };
  return (
    <>
      <button
        type="button"
        className={account.is_active ? 'danger-quiet' : ''}
        onClick={() => setAsking(true)}
      >
        {verb}
      </button>
      {isAsking && (
        <Confirm
          title={`${verb} ${account.email}?`}
          verb={verb}
          danger={account.is_active}
          act={act}
          onClose={() => setAsking(false)}
        >
          <p>
            {account.is_active
              ? 'Every key of the account is refused at every gateway. The balance does not change.'
              : 'Its keys work again with their current settings.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
