import { test } from 'tap';
import { invitationMail, Mailer, resetMail } from '../../src/people/mail.ts';
import { startSmtpServer } from '../helper/stand-ins/smtp-server.ts';

const FROM = 'Tollgate <tollgate@gateway.example>';
const LINK = `https://gateway.example/dashboard/invite#${'x'.repeat(60)}=`;

/** A log that keeps its lines as JSON. */
function keepingLog() {
  const lines: string[] = [];
  const keep = (about: object, message: string) => void lines.push(JSON.stringify({ ...about, message }));
  return { lines, log: { debug: keep, info: keep, warn: keep, error: keep } };
}

/** Body of a mail, with the line ends of quoted-printable joined. */
const bodyOf = (message: string) =>
  message
    .slice(message.indexOf('\n\n') + 2)
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

test('a mail is sent as plain text, to one address', async (t) => {
  const smtp = await startSmtpServer(t);
  const { lines, log } = keepingLog();
  const mailer = new Mailer({ url: smtp.url, from: FROM }, log);
  const expiresAt = Date.UTC(2026, 10, 30, 12, 5);
  t.ok(
    await mailer.sendMail(
      invitationMail('a@b.example', { account: 'Lab Ω', role: 'member', link: LINK, expiresAt }),
    ),
  );
  t.ok(await mailer.sendMail(resetMail('a@b.example', { link: LINK, expiresAt })));
  const [invitation, reset] = smtp.mails;
  t.match(invitation, { from: 'tollgate@gateway.example', to: ['a@b.example'] });
  t.match(invitation?.message, /^From: Tollgate <tollgate@gateway\.example>$/m);
  t.match(invitation?.message, /^Content-Type: text\/plain; charset=utf-8$/m);
  for (const mail of [invitation, reset]) {
    const body = bodyOf(mail?.message ?? '');
    t.ok(body.includes(`\n${LINK}\n`), 'the link is whole');
    t.match(body, /until 2026-11-30 12:05 UTC/);
  }
  t.match(bodyOf(invitation?.message ?? ''), /with the role member/);
  t.same(lines, []);
});

test('an address is one address, whatever it contains', async (t) => {
  const smtp = await startSmtpServer(t);
  const mailer = new Mailer({ url: smtp.url, from: FROM }, keepingLog().log);
  for (const to of [
    'a@b.example, c@d.example',
    'a@b.example\r\nRCPT TO:<c@d.example>',
    'a@b.example>, <c@d.example',
  ])
    await mailer.sendMail({ to, subject: 'x\r\nBcc: c@d.example', text: 'x' });
  for (const { to, message } of smtp.mails) {
    t.equal(to.length, 1);
    t.notMatch(message, /^Bcc/im);
  }
  t.notOk(smtp.commands.some((command) => /^RCPT TO:<c@d\.example>/i.test(command)));
});

for (const refused of ['MAIL', 'RCPT', 'DATA', 'EHLO']) {
  test(`a mail that the server refuses at ${refused} is logged without addresses`, async (t) => {
    const smtp = await startSmtpServer(t);
    const { lines, log } = keepingLog();
    smtp.refused = refused;
    const sent = await new Mailer({ url: smtp.url, from: FROM }, log).sendMail(
      resetMail('a@b.example', { link: LINK, expiresAt: 0 }),
    );
    // After a refused EHLO, HELO is right.
    t.equal(sent, refused === 'EHLO');
    t.equal(smtp.mails.length, sent ? 1 : 0);
    t.equal(lines.length, sent ? 0 : 1);
    if (!sent) t.match(lines[0], /"responseCode":550/);
    t.notMatch(lines.join(), /b\.example|invite#|gateway\.example/);
  });
}

test('a password is sent by TLS only, and logged never', async (t) => {
  const smtp = await startSmtpServer(t);
  const { lines, log } = keepingLog();
  const url = smtp.url.replace('//', '//user:hunter2@');
  t.notOk(
    await new Mailer({ url, from: FROM }, log).sendMail({ to: 'a@b.example', subject: 'x', text: 'x' }),
  );
  t.notOk(smtp.commands.some((command) => /AUTH/i.test(command)));
  t.equal(lines.length, 1);
  t.notMatch(lines[0], /hunter2|user/);
});

test('without a server, or with one that is away, nothing is sent', async (t) => {
  const { lines, log } = keepingLog();
  const mail = { to: 'a@b.example', subject: 'x', text: 'x' };
  t.notOk(await new Mailer(undefined, log).sendMail(mail));
  t.same(lines, []);
  t.notOk(await new Mailer({ url: 'smtp://127.0.0.1:1', from: FROM }, log).sendMail(mail));
  t.match(lines, [/"code":/]);
});
