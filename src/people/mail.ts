import { setTimeout } from 'node:timers/promises';
import type { MailSettings } from '../config/people.ts';
import type { Role } from '../domain/roles.ts';
import type { Log } from '../log/log.ts';

/** Time limit for each step: name, connection, greeting, and each answer. */
const STEP_MS = 10_000;
/** Time for which an answer with a link waits for its mail. */
const WAIT_MS = 3_000;

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

/** Sends mail by the server of the config file. nodemailer is loaded with the first mail. */
export class Mailer {
  readonly #settings: MailSettings | undefined;
  readonly #log: Log;

  /** Without settings, nothing is sent. */
  constructor(settings: MailSettings | undefined, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** As sendMail, but false after 3 s, while the mail may still go out: an answer must not wait for a mail server. */
  async sendSoon(mail: Mail): Promise<boolean> {
    if (!this.#settings) return false;
    return await Promise.race([this.sendMail(mail), setTimeout(WAIT_MS, false, { ref: false })]);
  }

  /** Returns whether the server took the mail; false without settings. Never throws. Logs no address and no text. */
  async sendMail({ to, subject, text }: Mail): Promise<boolean> {
    if (!this.#settings) return false;
    const { url, from } = this.#settings;
    const { username, host } = new URL(url);
    try {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        url,
        // Else whoever is between could drop the server's offer of TLS and read the password.
        requireTLS: username !== '',
        dnsTimeout: STEP_MS,
        connectionTimeout: STEP_MS,
        greetingTimeout: STEP_MS,
        socketTimeout: STEP_MS,
      });
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return true;
    } catch (error) {
      // The message can quote addresses; these fields say why without them.
      const { code, command, responseCode } = error as Readonly<Record<string, unknown>>;
      this.#log.warn({ host, code, command, responseCode }, 'the mail server did not take a mail');
      return false;
    }
  }
}

/** The mail of an invitation. `expiresAt`: milliseconds since the epoch. */
export function invitationMail(
  to: string,
  invitation: {
    readonly account: string;
    readonly role: Role;
    readonly link: string;
    readonly expiresAt: number;
  },
): Mail {
  const { account, role, link, expiresAt } = invitation;
  return {
    to,
    subject: `Invitation to ${account}`,
    text: `You are invited to the account ${account}, with the role ${role}.

Accept the invitation:
${link}

The link works once, until ${shown(expiresAt)}. If you don't know the account, ignore this mail.
`,
  };
}

/** The mail of a link for a new password. `expiresAt`: milliseconds since the epoch. */
export function resetMail(to: string, reset: { readonly link: string; readonly expiresAt: number }): Mail {
  return {
    to,
    subject: 'Set a new password',
    text: `Set a new password:
${reset.link}

The link works once, until ${shown(reset.expiresAt)}. Until then, your current password stays.
`,
  };
}

function shown(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
