import t from 'tap';
import type { CreatedInvitationView } from '../../../src/api/people/invitation-view.ts';
import type { LinkView } from '../../../src/api/people/person-view.ts';
import { apiOf } from '../../helper/clients/api.ts';
import { secretOf } from '../../helper/clients/people.ts';
import { startSmtpServer } from '../../helper/stand-ins/smtp-server.ts';
import { ADMIN_TOKEN, startOwnGateway, TEST_SERVER } from '../../helper/start/gateway-in-process.ts';

t.test('links of invitations and resets go out by mail; a server that refuses fails nothing', async (t) => {
  const smtp = await startSmtpServer(t);
  const mail = { url: smtp.url, from: 'tollgate@gateway.example' };
  const server = { ...TEST_SERVER, publicUrl: 'https://gateway.example/ai' };
  const world = await startOwnGateway(t, { config: { mail, server } });
  const operator = apiOf(world, ADMIN_TOKEN);
  const isMailed = (email: string, link: string) =>
    smtp.mails.some(
      ({ to, message }) => to.includes(email) && message.replaceAll('=\n', '').includes(secretOf(link)),
    );

  const { accountId, key } = await world.account();
  const invite = async (email: string | null) => {
    const sent = { role: 'member', ...(email === null ? {} : { email }) };
    return (await apiOf(world, key).post<CreatedInvitationView>('/api/account/invitations/', sent)).body;
  };
  const invitation = await invite('ada@example.com');
  t.equal(invitation.mailed, true);
  t.match(invitation.link, /^https:\/\/gateway\.example\/ai\/dashboard\/invite#/);
  t.ok(isMailed('ada@example.com', invitation.link));
  t.equal((await invite(null)).mailed, false, 'nobody to send it to');

  const account = { email: 'account@example.com', owner_email: 'owner@example.com' };
  const created = await operator.post<{ invitation_link: string; mailed: boolean }>(
    '/api/admin/accounts/',
    account,
  );
  t.equal(created.body.mailed, true);
  t.ok(isMailed('owner@example.com', created.body.invitation_link));

  const person = await operator.post<LinkView>('/api/admin/people/', { email: 'bob@example.com' });
  t.equal(person.body.mailed, true);
  t.ok(isMailed('bob@example.com', person.body.link));
  const { id } = (await world.book.personByEmail('bob@example.com')) ?? {};
  const reset = await operator.post<LinkView>(`/api/admin/people/${id}/reset/`);
  t.equal(reset.body.mailed, true);
  t.ok(isMailed('bob@example.com', reset.body.link));

  smtp.refused = 'RCPT';
  const refused = await invite('eve@example.com');
  t.equal(refused.mailed, false);
  t.match(refused.link, /#/);
  t.equal((await operator.get(`/api/admin/accounts/${accountId}/invitations/`)).status, 200);
});
