import { ROLE_NAMES } from '../format/words.ts';
import { rolesGivenBy } from '../session/may.ts';
import { session } from '../session/session.ts';
import { Field } from '../ui/field.tsx';

/** Field with the roles that the session may give. */
export function RoleChoice(props: {
  name: string;
  value: string;
  onValue: (value: string) => void;
  error: string | undefined;
}) {
  return (
    <Field name={props.name} label="Role" error={props.error}>
      {(attributes) => (
        <select
          {...attributes}
          value={props.value}
          onChange={(event) => props.onValue(event.currentTarget.value)}
        >
          {rolesGivenBy(session.value?.role ?? 'key').map((role) => (
            <option key={role} value={role}>
              {ROLE_NAMES[role]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
