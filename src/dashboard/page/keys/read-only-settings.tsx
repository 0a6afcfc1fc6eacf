import type { ReactNode } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { rowAt } from '../../../domain/key-settings.ts';
import { countryName } from '../format/countries.ts';
import { CATEGORY_NAMES, PERIOD_NAMES } from '../format/words.ts';
import { Section, Time } from '../ui/elements.tsx';
import { Note } from '../ui/note.tsx';
import { settingInWords } from './key-differences.ts';
import { FORM_FIELDS, type KeyField } from './key-draft.ts';

/** A note for a session whose key may not manage. */
export function ReadOnlyNote() {
  return (
    <Note kind="info">
      <p>
        This key can't manage the account (<code>can_manage</code> is false), so you see only its own calls
        and settings. To change something, sign in with a managing key.
      </p>
    </Note>
  );
}

/** Settings of a key in words, for a session that may not change them. */
export function ReadOnlySettings({ of: key }: { of: KeyView }) {
  const fields = FORM_FIELDS.filter((field) => field !== 'spending_period' || key.spending_limit !== null);
  return (
    <Section title="Settings">
      <dl className="settings">
        {fields.map((field) => (
          <div key={field}>
            <dt>{rowAt(field).label}</dt>
            <dd>{shown(key, field)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function shown(key: KeyView, field: KeyField): ReactNode {
  const value = key[field];
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return rowAt(field).none;
  }
  switch (field) {
    case 'expires_at':
      return <Time at={String(value)} />;
    case 'allowed_categories':
      return key.allowed_categories.map((category) => CATEGORY_NAMES[category] ?? category).join(', ');
    case 'blocked_countries':
      return key.blocked_countries.map((code) => `${countryName(code)} (${code})`).join(', ');
    case 'spending_period':
      return PERIOD_NAMES[key.spending_period] ?? key.spending_period;
    default:
      return settingInWords(field, value);
  }
}
