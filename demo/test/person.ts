import type { BrowserContext, Locator, Page } from 'playwright-core';
import type { World } from './world.ts';

export type User = { email: string; password: string };

export async function newUser(world: World, fields: object = {}): Promise<User> {
  return (await world.post('/sandbox/users', fields)) as User;
}

/** Signs in from the front page and allows the app what it asks. */
export async function signIn(world: World, page: Page, { email, password }: User): Promise<void> {
  await toSignIn(world, page);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Offers', exact: true }).waitFor();
}

export async function toSignIn(world: World, page: Page): Promise<void> {
  await page.goto(world.url);
  await page.getByRole('link', { name: 'Sign in or register' }).click();
}

/** Creates an account, and confirms its address by the link on the app's own mail page. */
export async function register(
  world: World,
  page: Page,
  context: BrowserContext,
  email: string,
): Promise<void> {
  await toSignIn(world, page);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Individual').check();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('walk-along-the-quay');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const mail = await context.newPage();
  await mail.goto(`${world.url}/mail`);
  const link = mail
    .getByRole('listitem')
    .filter({ hasText: email })
    .getByRole('link', { name: 'Open the link' });
  await page.goto(String(await link.getAttribute('href')));
  await mail.close();
  await page.getByRole('button', { name: 'Confirm email' }).click();
}

export const wallet = (page: Page) => page.locator('dialog.approval');

/** Says yes to what the test wallet asks; with another amount where it is about an allowance. */
export async function approve(page: Page, title: RegExp, amount?: string): Promise<void> {
  await wallet(page).getByRole('heading', { name: title }).waitFor();
  if (amount !== undefined) await wallet(page).getByLabel('It may take up to').fill(amount);
  await wallet(page).getByRole('button', { name: 'Approve' }).click();
}

export async function reject(page: Page): Promise<void> {
  await wallet(page).getByRole('button', { name: 'Reject' }).click();
}

/** By the button of the header. */
export async function connectWallet(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect wallet' }).click();
  await chooseWallet(page, 'Test wallet');
  await page.getByRole('button', { name: /^Wallet 0x/ }).waitFor();
}

export async function chooseWallet(page: Page, name: string): Promise<void> {
  await page.locator('dialog[open]').getByRole('button', { name, exact: true }).click();
}

export async function getTestMoney(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Get test money' }).click();
  await page.getByText('The money has arrived.').waitFor();
}

export function requirement(page: Page, type: string): Locator {
  return page.locator(`[data-requirement="${type}"]`);
}

export async function expectRequirement(page: Page, type: string, status: string): Promise<void> {
  await page.locator(`[data-requirement="${type}"][data-status="${status}"]`).waitFor();
}

type Decision = { outcome?: string; country?: string };

/** Opens the provider's flow from a requirement, fills it in, picks what the provider decides, and comes back. */
export async function verify(page: Page, type: string, { outcome = 'Approve', country }: Decision = {}) {
  await requirement(page, type).getByRole('button').click();
  const flow = page.frameLocator('.cw-identity-frame');
  await flow.getByRole('heading', { name: 'Verify your identity' }).waitFor();
  if (country !== undefined) await flow.getByLabel('Country (two letters)').fill(country);
  await flow.getByLabel(outcome, { exact: true }).check();
  await flow.getByRole('button', { name: 'Send' }).click();
  await flow.getByRole('heading', { name: 'Done' }).waitFor();
  await page.locator('dialog[open]').getByRole('button', { name: 'Close' }).click();
}

/** Has the tax form sent, and signs it by the link in the mail. */
export async function signForm(world: World, page: Page, context: BrowserContext): Promise<void> {
  const row = requirement(page, 'document');
  await row.getByRole('button', { name: 'Fill in the form' }).click();
  await row.getByRole('button', { name: 'Send me the form' }).click();
  await expectRequirement(page, 'document', 'in_progress');
  const mail = await context.newPage();
  await mail.goto(`${world.url}/mail`);
  const letter = mail.getByRole('listitem').filter({ hasText: 'read and sign the form' });
  const form = context.waitForEvent('page');
  await letter.getByRole('link', { name: 'Open the link' }).click();
  const signing = await form;
  await signing.getByRole('button', { name: /^Sign/ }).click();
  await signing.getByRole('heading', { name: 'This form has been signed' }).waitFor();
  await signing.close();
  await mail.close();
}

export async function fillAmount(page: Page, amount: string): Promise<void> {
  await page.getByLabel('Amount', { exact: true }).fill(amount);
}
