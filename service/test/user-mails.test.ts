import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeNotice } from '../src/domain/notices/notice.ts';
import { unsubscribeUrl } from '../src/domain/notices/preferences.ts';
import { sendNotices } from '../src/domain/notices/worker.ts';
import { PASSWORD, type Site, startSite } from './support/site.ts';
import { newVisitor, type Visitor } from './support/visitor.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());

const signIn = async (email: string, visitor: Visitor = newVisitor(site.app)): Promise<Visitor> => {
  await visitor.get('/sign-in');
  expect((await visitor.post('/sign-in', { email, password: PASSWORD })).headers.location).toBe('/account');
  return visitor;
};
const waiting = async () =>
  (await site.ctx.db.selectFrom('notices').select(['kind']).where('handled_at', 'is', null).execute()).map(
    ({ kind }) => kind,
  );
const optOuts = async (userId: string) =>
  (
    await site.ctx.db
      .selectFrom('notice_opt_outs')
      .select('topic')
      .where('user_id', '=', userId)
      .orderBy('topic')
      .execute()
  ).map(({ topic }) => topic);
const pathOf = (url: string) => url.slice(site.url.length);

test('a sign-in in a new browser gives a mail, a later one in the same browser none', async () => {
  await site.makeUser('ada@user.test');
  const browser = await signIn('ada@user.test');
  expect(await waiting()).toEqual(['signed_in']);
  await sendNotices(site.ctx);
  const mail = await site.mailTo('ada@user.test', /New sign-in/);
  expect(mail.text).toContain(`${site.url}/forgot`);
  expect(mail.html).toContain(`href="${site.url}/forgot"`);
  expect(mail.unsubscribe_url).toBeNull();
  await browser.get('/account');
  await browser.post('/sign-out');
  await signIn('ada@user.test', browser);
  expect(await waiting()).toEqual([]);
  await signIn('ada@user.test');
  expect(await waiting()).toEqual(['signed_in']);
  await sendNotices(site.ctx);
});

test('a failed sign-in gives no mail', async () => {
  await site.makeUser('brute@user.test');
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  expect((await visitor.post('/sign-in', { email: 'brute@user.test', password: 'wrong' })).statusCode).toBe(
    422,
  );
  expect(await waiting()).toEqual([]);
});

test('a registration in German gets its confirmation and later mails in German', async () => {
  const visitor = newVisitor(site.app);
  await visitor.get('/register');
  const fields = { email: 'greta@user.test', password: PASSWORD, kind: 'person' };
  await visitor.post('/register', fields, { 'accept-language': 'fr;q=0.9, de-AT;q=0.8, en;q=0.5' });
  const mail = await site.mailTo('greta@user.test', /Bestätigen Sie Ihre E-Mail-Adresse/);
  const link = /https?:\S+confirm\S+/.exec(mail.text)?.[0] ?? '';
  expect(mail.html).toContain(link);
  await visitor.get(pathOf(link));
  await visitor.post('/confirm', { token: new URL(link).searchParams.get('token') ?? '' });
  await signIn('greta@user.test');
  await sendNotices(site.ctx);
  await site.mailTo('greta@user.test', /Neue Anmeldung/);
});

test('the account page turns off what is not required, and sets the language', async () => {
  const id = await site.makeUser('picky@user.test');
  const visitor = await signIn('picky@user.test');
  expect((await visitor.get('/account')).body).toMatch(/name="forms" value="yes" checked/);
  expect(
    (await visitor.post('/account/emails', { verification: 'yes', locale: 'de' })).headers.location,
  ).toBe('/account?notice=emails_saved');
  const page = (await visitor.get('/account')).body;
  expect(page).toMatch(/name="verification" value="yes" checked/);
  expect(page).not.toMatch(/name="forms" value="yes" checked/);
  expect(page).toMatch(/value="de" checked/);
  expect(await optOuts(id)).toEqual(['acceptance', 'forms', 'reminders']);
  await sendNotices(site.ctx);
  await site.mailTo('picky@user.test', /Neue Anmeldung/);
  expect((await visitor.post('/account/emails', { signed_in: 'no' })).statusCode).toBe(422);
});

test('one click unsubscribes from one topic, without a session, and a scanner that opens the link does not', async () => {
  const id = await site.makeUser('click@user.test');
  await writeNotice(site.ctx.db, id, 'form_to_sign', 'one', { until: 0 });
  await sendNotices(site.ctx);
  const { unsubscribe_url } = await site.mailTo('click@user.test', /tax form/);
  const path = pathOf(String(unsubscribe_url));
  expect((await site.app.inject(path)).statusCode).toBe(200);
  expect(await optOuts(id)).toEqual([]);
  const post = (url: string) =>
    site.app.inject({
      ...{ method: 'POST', url, payload: 'List-Unsubscribe=One-Click' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await post(path)).statusCode).toBe(200);
  expect((await post(path)).statusCode).toBe(200);
  expect(await optOuts(id)).toEqual(['forms']);
  const other = pathOf(unsubscribeUrl(site.ctx, id, 'reminders'));
  for (const forged of [
    path.replace('forms', 'reminders'),
    path.replace('forms', 'signed_in'),
    `${other.slice(0, -4)}AAAA`,
    other.replace(
      id,
      id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ),
    '/unsubscribe',
  ])
    expect((await post(forged)).statusCode).toBe(404);
  expect(await optOuts(id)).toEqual(['forms']);
});
