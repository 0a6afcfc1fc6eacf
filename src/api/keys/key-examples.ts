import { rowAt, WIRE_NAMES, type WireSettings } from '../../domain/key-settings.ts';

// Example bodies of key requests and answers, for the description of the API.

const defaults = Object.fromEntries(WIRE_NAMES.map((name) => [name, rowAt(name).fallback])) as WireSettings;

export const KEY_EXAMPLE = {
  ...defaults,
  id: 2,
  name: 'web app',
  description: 'for the web team',
  prefix: 'sk-tg-24kV',
  allowed_models: ['demo-chat'],
  spending_limit: 10,
  spending_current: '0.020084',
  active_hours: '08:00-18:00',
  allowed_origins: ['https://*.example.com'],
  created_at: '2026-11-21T08:00:00.000Z',
  can_manage: false,
  version: 3,
  rpm_limit: 60,
  tpm_limit: 100_000,
  max_parallel_requests: 5,
  last_used_at: '2026-11-21T17:42:07.512Z',
  previous_valid_until: null,
};

export const OWN_KEY_EXAMPLE = {
  ...KEY_EXAMPLE,
  limit_remaining: '9.979916',
  period_ends_at: '2026-12-01T00:00:00.000Z',
};

export const CREATED_KEY_EXAMPLE = {
  id: 2,
  name: 'web app',
  prefix: 'sk-tg-24kV',
  key: 'sk-tg-24kV…',
  created_at: '2026-11-21T08:00:00.000Z',
  _service: { note: 'Save this key now. It is not stored and will not be shown again.' },
};

export const ROTATED_KEY_EXAMPLE = {
  ...CREATED_KEY_EXAMPLE,
  prefix: 'sk-tg-9fQz',
  key: 'sk-tg-9fQz…',
  previous_valid_until: '2026-11-22T13:00:00.000Z',
};

export const ROTATION_EXAMPLES = {
  grace: { summary: 'The previous value stays valid for an hour', value: { grace_seconds: 3_600 } },
  at_once: { summary: 'The previous value ends at once', value: {} },
  end: { summary: 'End the previous value, without a new one', value: { end_grace: true } },
};

export const NEW_KEY_EXAMPLES = {
  plain: { summary: 'Without restrictions', value: { name: 'web app', description: 'for the web team' } },
  restricted: {
    summary: 'To be handed out',
    value: {
      name: 'kiosk',
      expires_at: '2030-01-31T12:00:00+01:00',
      allowed_models: ['demo-chat'],
      allowed_categories: ['text'],
      spending_limit: 0.5,
      spending_period: 'daily',
      rpm_limit: 60,
      tpm_limit: 100_000,
      max_parallel_requests: 5,
      active_hours: '22:00-06:00',
      allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
      allowed_origins: ['https://kiosk.example.com'],
      blocked_countries: ['KP'],
      webhook_url: 'https://hooks.example.com/credits',
    },
  },
};

export const KEY_PATCH_EXAMPLES = {
  limit: { summary: 'Limit the spending', value: { spending_limit: 10, spending_period: 'monthly' } },
  calls: { summary: 'Limit the calls', value: { rpm_limit: 60, max_parallel_requests: 5, tpm_limit: null } },
  reactivate: { summary: 'Bring a deleted key back', value: { is_active: true } },
  restrict: {
    summary: 'Restrict to pages and hours',
    value: { allowed_origins: ['https://*.example.com'], active_hours: '08:00-18:00' },
  },
};
