import { RATES, type RateKind, TooOften } from '../../book/rates.ts';
import { GatewayError } from '../../domain/errors.ts';

const WHAT: Readonly<Record<RateKind, string>> = {
  test_alert: `send ${RATES.test_alert.most} test alerts a minute`,
  alert_threshold: `change its alert threshold ${RATES.alert_threshold.most} times an hour`,
  rotation: `rotate keys ${RATES.rotation.most} times a minute`,
};

/** Turns TooOften into 429 `rate_limit_exceeded`; throws other errors as they are. */
export function refuseTooOften(error: unknown): never {
  if (!(error instanceof TooOften)) throw error;
  const seconds = Math.ceil(error.retryAfterMs / 1_000);
  const message = `An account can ${WHAT[error.kind]}. Try again in ${seconds} seconds.`;
  throw new GatewayError('rate_limit_exceeded', message, null, seconds);
}
