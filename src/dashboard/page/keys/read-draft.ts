import { GatewayError } from '../../../domain/errors.ts';
import { readDescription, readHours, readName, readWebhookUrl } from '../../../domain/key-fields.ts';
import type { KeyView } from '../../../domain/key-view.ts';
import type { KeyChange } from '../api/keys.ts';
import { ApiFailure } from '../api/request.ts';
import { readAmount } from '../format/read-amount.ts';
import { fromLocalInput } from '../format/time.ts';
import { draftOf, type KeyDraft, type KeyErrors, type KeyField } from './key-draft.ts';

/** A draft as the gateway takes it, and what is wrong with it, said of the field as the form names it. */
export interface ReadDraft {
  readonly body: Required<Omit<KeyChange, 'is_active' | 'can_manage'>>;
  readonly errors: KeyErrors;
}

/** Reads what is typed by the rules that the gateway has; the gateway judges again. */
export function readDraft(draft: KeyDraft): ReadDraft {
  const errors: Partial<Record<KeyField, string>> = {};
  const read = <Value>(field: KeyField, reader: () => Value, instead: Value): Value => {
    try {
      return reader();
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof ApiFailure)) throw error;
      errors[field] = error.message;
      return instead;
    }
  };
  const body = {
    name: read('name', () => readName('The name', draft.name), ''),
    description: read('description', () => readDescription('The note', draft.description), ''),
    expires_at: read('expires_at', () => expiryOf(draft), null),
    allowed_categories: draft.categories,
    allowed_models: draft.models,
    allowed_ips: draft.ips,
    allowed_origins: draft.origins,
    blocked_countries: draft.countries,
    active_hours: read('active_hours', () => hoursOf(draft), ''),
    spending_limit: read('spending_limit', () => limitOf(draft), null),
    spending_period: draft.period,
    webhook_url: read('webhook_url', () => readWebhookUrl('The address', draft.webhookUrl.trim()), ''),
  };
  return { body, errors };
}

/** The fields in which the draft differs from the key; those only are sent. */
export function changesOf(draft: KeyDraft, key: KeyView, { body }: ReadDraft): KeyChange {
  const before = readDraft(draftOf(key)).body;
  const changed = Object.entries(body).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof typeof before]),
  );
  return {
    ...(Object.fromEntries(changed) as KeyChange),
    ...(draft.canManage === undefined || draft.canManage === key.can_manage
      ? {}
      : { can_manage: draft.canManage }),
  };
}

/** `HH:MM-HH:MM` of the two times; midnight as an end is the end of the day. */
export function hoursOf(draft: Pick<KeyDraft, 'hasHours' | 'start' | 'end'>): string {
  if (!draft.hasHours) return '';
  const [start, end] = [draft.start.slice(0, 5), draft.end.slice(0, 5)];
  if (start === '' || end === '') throw new ApiFailure(0, 'invalid_field', 'Both times are needed.');
  if (start === end && start !== '00:00') {
    throw new ApiFailure(0, 'invalid_field', 'Start and end must differ. For the whole day, untick the box.');
  }
  return readHours('The hours', `${start}-${end === '00:00' ? '24:00' : end}`);
}

function limitOf({ hasLimit, limit }: KeyDraft): number | null {
  return hasLimit ? readAmount('The limit', limit, 'spending_limit') : null;
}

function expiryOf({ expires }: KeyDraft): string | null {
  if (expires === '') return null;
  const at = fromLocalInput(expires);
  if (at === undefined) throw new ApiFailure(0, 'invalid_field', 'This must be a date with a time.');
  return at;
}
