import type { CallRecord } from '../../book/calls.ts';
import { creditsString, micro } from '../../domain/credits.ts';
import type { RefusalDetail } from '../../domain/errors.ts';
import { timestamp } from '../../domain/period.ts';
import { attemptsView, usageView } from '../ledger/entry-view.ts';
import type { Static } from '../openapi/json-type.ts';
import type { Call, CallPage, OperatorCall } from './call-schema.ts';

/** A model call (specification section 14). */
export type CallView = Static<typeof Call>;
export type CallPageView = Static<typeof CallPage>;
export type OperatorCallView = Static<typeof OperatorCall>;

const NOTHING_CHARGED = creditsString(micro(0));

/** A call for a reader. One with `onlyKeyId` is a key that sees itself only, and is not shown the account's balance. */
export function callView(
  record: CallRecord,
  { onlyKeyId }: { readonly onlyKeyId: number | undefined },
): CallView {
  const common = { id: record.id, created_at: timestamp(record.createdAt) };
  if (record.refused) {
    const { keyId, model, category, endpoint, streamed, status, code, message, param, ...rest } =
      record.refused;
    return {
      ...common,
      key_id: keyId,
      model,
      category,
      endpoint,
      streamed,
      status,
      outcome: 'refused',
      code,
      message,
      param,
      charge: NOTHING_CHARGED,
      usage: {},
      estimated: false,
      duration_ms: rest.durationMs,
      first_byte_ms: null,
      upstream: null,
      attempts: [],
      user_agent: rest.userAgent,
      detail: rest.detail && detailView(rest.detail, onlyKeyId === undefined),
      repeated: record.repeated,
    };
  }
  const { entry } = record;
  return {
    ...common,
    key_id: entry.keyId,
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    streamed: entry.streamed ?? null,
    status: entry.status,
    outcome: entry.outcome,
    code: entry.code ?? null,
    message: entry.message ?? entry.note ?? null,
    param: entry.param ?? null,
    charge: creditsString(micro(0 - entry.credits)),
    usage: usageView(entry.usage),
    estimated: entry.estimated,
    duration_ms: entry.durationMs ?? null,
    first_byte_ms: entry.firstByteMs ?? null,
    upstream: entry.upstream ?? null,
    attempts: attemptsView(entry) ?? [],
    user_agent: entry.userAgent ?? null,
    detail: null,
    repeated: 1,
  };
}

/** A call as the operator sees it: with its account. */
export function operatorCallView(record: CallRecord): OperatorCallView {
  const { accountId } = record.refused ?? record.entry;
  return { ...callView(record, { onlyKeyId: undefined }), account_id: accountId };
}

function detailView(detail: RefusalDetail, seesBalance: boolean): NonNullable<CallView['detail']> {
  return seesBalance || detail.hold === undefined ? detail : { ...detail, balance: null, held: null };
}
