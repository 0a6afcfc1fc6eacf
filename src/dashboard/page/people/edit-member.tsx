import { useState } from 'react';
import type { Role } from '../../../domain/roles.ts';
import { limitsText } from '../../../domain/spending-limits-text.ts';
import { changeMember, type Member } from '../api/people.ts';
import { LIMITS_HINT, limitsOf } from '../format/limits.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { useFields } from '../ui/use-fields.ts';
import { RoleChoice } from './role-choice.tsx';

/** Dialog with the role, limits and rights of a member. Sends what is changed. */
export function EditMember(props: { of: Member; onDone: () => void; onClose: () => void }) {
  const { person, ...before } = props.of;
  const [makesKeys, setMakesKeys] = useState(before.can_create_keys);
  const limits = limitsText(before.spending_limits);
  const { form, field, texts } = useFields(
    { role: before.role as string, spending_limits: limits },
    async (now) => {
      await changeMember(person.id, {
        ...(now.role !== before.role && { role: now.role as Role }),
        ...(now.spending_limits !== limits && { spending_limits: limitsOf(now.spending_limits) }),
        ...(makesKeys !== before.can_create_keys && { can_create_keys: makesKeys }),
      });
      announce(`${person.email} changed.`);
      props.onDone();
    },
  );
  return (
    <Dialog title={`Edit ${person.email}`} onCancel={props.onClose}>
      <ActionForm {...form} verb="Save" onCancel={props.onClose}>
        <RoleChoice {...field('role')} />
        <TextField
          {...field('spending_limits')}
          label="Spending limits"
          hint={`For all keys of this person together. ${LIMITS_HINT}`}
        />
        {texts.role === 'member' && (
          <label className="tick">
            <input
              type="checkbox"
              checked={makesKeys}
              onChange={(event) => setMakesKeys(event.currentTarget.checked)}
            />
            <span>Can create keys</span>
          </label>
        )}
      </ActionForm>
    </Dialog>
  );
}
