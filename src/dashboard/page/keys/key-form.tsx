import { Chip, NativeSelect, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ModelView } from '../../../api/models/model-view.ts';
import { modelNames } from '../../../domain/allowed-models.ts';
import { isWithin, parseActiveHours } from '../../../domain/hours.ts';
import { CATEGORIES, type Category } from '../../../domain/key-readers.ts';
import { rowAt, type TypedField } from '../../../domain/key-settings.ts';
import { read } from '../data/query.ts';
import { CALL_LIMITS } from '../format/call-limits.ts';
import { COUNTRIES } from '../format/countries.ts';
import { fromInput, localClock, moment, zoneName } from '../format/time.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { zoneNow } from '../format/zone.ts';
import { LimitsEditor } from '../limits/editor.tsx';
import { useScope } from '../session/scope.ts';
import type { Edit } from '../ui/edit.tsx';
import { Note } from '../ui/note.tsx';
import { type ListField, shownItems } from './lists.ts';
import { hoursText, type KeyDraft } from './read-draft.ts';

type Of = { readonly of: Edit<KeyDraft> };

export function NameField({ of }: Of) {
  return <TextInput label="Name" autoComplete="off" required withAsterisk={false} {...of.input('name')} />;
}

export function NoteField({ of }: Of) {
  return (
    <Textarea
      label="Note"
      description="Optional. Up to 1,000 characters."
      autosize={false}
      rows={2}
      {...of.input('description')}
    />
  );
}

export function ExpiryField({ of }: Of) {
  return (
    <TextInput
      type="datetime-local"
      label="Expires"
      description={expiryHint(of.form.values.expires_at)}
      {...of.input('expires_at')}
    />
  );
}

function expiryHint(text: string): ReactNode {
  const zone = zoneNow();
  const at = text === '' ? undefined : fromInput(text, zone);
  if (at === undefined) {
    return `In ${zone === 'utc' ? 'UTC' : `your time zone (${zoneName()})`}. Leave empty for no expiry.`;
  }
  const isPassed = Date.parse(at) <= Date.now();
  return (
    <>
      {moment(at, 'utc')} UTC.{isPassed && <strong> This time has passed, so the key is expired.</strong>}
    </>
  );
}

/** Whether the key manages the account, and where its alerts go; keys of people do neither. */
export function AccountKeyFields({ of }: Of) {
  return (
    <>
      <Switch
        label="Can manage"
        description="A managing key sees and changes the whole account. Any other key sees only itself and changes nothing."
        {...of.tick('can_manage')}
      />
      <TextInput
        type="url"
        label="Webhook URL"
        description="Gets the low-credits alert of the account. Leave empty for none."
        placeholder="https://example.com/hook"
        {...of.input('webhook_url')}
      />
    </>
  );
}

/** Whether the key's person may change its restrictions. */
export function LockField({ of, person }: Of & { person: string }) {
  return (
    <Switch
      label="Lock restrictions"
      description={`${person} can then only rename, rotate and deactivate this key. Turned on when you restrict the key.`}
      {...of.tick('restrictions_locked')}
    />
  );
}

export function SpendingField({ of, label = 'Spending limits' }: Of & { label?: string }) {
  const { form } = of;
  return (
    <LimitsEditor
      label={label}
      hint="Calls that could exceed a limit get 402 until its period ends."
      rows={form.values.spending_limits}
      onRows={(rows) => form.setFieldValue('spending_limits', rows)}
      error={form.errors.spending_limits}
    />
  );
}

export function CallLimitFields({ of }: Of) {
  return (
    <div className="pair">
      {CALL_LIMITS.map((name) => (
        <TextInput
          key={name}
          label={rowAt(name).label}
          inputMode="numeric"
          autoComplete="off"
          placeholder="No limit"
          {...of.input(name)}
        />
      ))}
    </div>
  );
}

/** Models and modalities that the key can call. */
export function ModelFields({ of }: Of) {
  const { form } = of;
  const models = useModels();
  const names = form.values.allowed_models;
  const unknown = models ? names.filter((name) => ![...models].some(modelNames([name]).has)) : [];
  return (
    <>
      <ListInput
        of={of}
        name="allowed_models"
        hint="Names, or beginnings such as gpt-5*. Leave empty for all models, including future ones."
        placeholder={names.length === 0 ? 'All models' : ''}
        suggestions={[...(models ?? [])]}
      />
      {unknown.length > 0 && (
        <Note kind="warning">
          <p>
            The catalog does not have {unknown.map((name) => `“${name}”`).join(', ')}. Calls with an unknown
            model are refused: check the spelling.
            {unknown.length === names.length && ' With these settings, the key can call no model.'}
          </p>
        </Note>
      )}
      <fieldset data-path="allowed_categories">
        <legend>Modalities</legend>
        <p className="hint">Choose none to allow all.</p>
        <Chip.Group
          multiple
          value={[...form.values.allowed_categories]}
          onChange={(chosen) =>
            form.setFieldValue(
              'allowed_categories',
              CATEGORIES.filter((category) => chosen.includes(category)) as Category[],
            )
          }
        >
          <div className="actions">
            {CATEGORIES.map((category) => (
              <Chip key={category} value={category} size="sm">
                {CATEGORY_NAMES[category]}
              </Chip>
            ))}
          </div>
        </Chip.Group>
      </fieldset>
    </>
  );
}

/** Names of the models of the catalog; undefined while they are not known, or if the session does not see all. */
function useModels(): ReadonlySet<string> | undefined {
  const scope = useScope();
  const isOwn = scope.kind === 'own';
  const { data } = useQuery(
    read<{ data?: ModelView[]; models?: ModelView[] }>(
      scope,
      isOwn ? '/api/account/models/' : '/api/admin/models/',
    ),
  );
  const list = data?.data ?? data?.models;
  return list && new Set(list.map(({ id }) => id));
}

/** Where calls with the key can come from. */
export function NetworkFields({ of }: Of) {
  return NETWORK.map((name) => (
    <ListInput
      key={name}
      of={of}
      name={name}
      hint={rowAt(name).typed?.hint ?? ''}
      placeholder={rowAt(name).typed?.placeholder ?? ''}
      {...(name === 'blocked_countries' && { suggestions: COUNTRIES.map((country) => country.name) })}
    />
  ));
}

const NETWORK: readonly TypedField[] = ['allowed_ips', 'allowed_origins', 'blocked_countries'];

/** A list whose items are typed; text left in it is taken when it is left. */
function ListInput({
  of: { form, input },
  name,
  hint,
  placeholder,
  suggestions = [],
}: Of & { name: ListField; hint: string; placeholder: string; suggestions?: readonly string[] }) {
  const items = form.values[name];
  return (
    <TagsInput
      {...input(name)}
      label={rowAt(name).label}
      description={hint}
      placeholder={items.length === 0 ? placeholder : ''}
      value={[...items]}
      onChange={(texts) => {
        form.setFieldValue(name, shownItems(name, texts));
        // Each item is checked when it is added.
        void form.validateField(name);
      }}
      data={suggestions}
      limit={50}
      splitChars={[',', ';', ...(suggestions.length > 0 ? [] : [' '])]}
      comboboxProps={{ transitionProps: { duration: 0 }, keepMounted: false }}
    />
  );
}

/** The hours of the UTC day in which the key works. */
export function HourFields({ of: { form } }: Of) {
  const { active_hours: hours } = form.values;
  const change = (part: Partial<typeof hours>) => form.setFieldValue('active_hours', { ...hours, ...part });
  const time = (at: 'start' | 'end', label: string) => (
    <TextInput
      type="time"
      name="active_hours"
      data-path="active_hours"
      label={label}
      value={hours[at]}
      error={Boolean(form.errors.active_hours)}
      onChange={(event) => change({ [at]: event.currentTarget.value })}
    />
  );
  return (
    <div className="fields">
      <Switch
        label="Restrict to certain hours"
        checked={hours.isOn}
        onChange={(event) => change({ isOn: event.currentTarget.checked })}
      />
      {hours.isOn && (
        <>
          <div className="pair">
            {time('start', 'From (UTC)')}
            {time('end', 'Until (UTC)')}
          </div>
          <p className="hint">{hoursWords(hours)}</p>
          {form.errors.active_hours && (
            <p className="field-error" role="alert">
              {form.errors.active_hours}
            </p>
          )}
        </>
      )}
    </div>
  );
}

/** Explanation of the two times, with the wrap past midnight and in local time. */
function hoursWords(typed: KeyDraft['active_hours']): string {
  const text = textOf(typed);
  const hours = text === undefined ? undefined : parseActiveHours(text);
  if (!text || !hours) return 'Every day, in UTC. The start is included, the end is not.';
  const [start = '', end = ''] = text.split('-');
  const next = hours.startMinute > hours.endMinute ? ' on the next day' : '';
  const now = isWithin(hours, Date.now()) ? 'within' : 'outside';
  return (
    `Every day from ${start} until ${end}${next}, UTC. In ${zoneName()}, with today's offset: ${localClock(start)} until ` +
    `${localClock(end)}. The current time is ${now} these hours.`
  );
}

function textOf(hours: KeyDraft['active_hours']): string | undefined {
  try {
    return hoursText(hours);
  } catch {
    return undefined;
  }
}

/** Choice of the person whose key a new one is: a member, or none for the account's. */
export function OwnerField({
  members,
  value,
  onValue,
}: {
  members: readonly { readonly id: number; readonly name: string }[];
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <NativeSelect
      name="person_id"
      label="For"
      description="A member's key shows up under their keys. They can rotate it, but it never manages the account."
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
      data={[
        { value: '', label: 'The account (an app or service)' },
        ...members.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
    />
  );
}
