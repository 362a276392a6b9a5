import type { Locator, Page } from 'playwright-core';
import type { TestApp } from './test-app.ts';

export type User = { id: string; email: string; password: string };

export async function newUser(app: TestApp, fields: object = {}): Promise<User> {
  return (await app.post('/sandbox/users', fields)) as User;
}

/** Signs in from the landing page and gives consent. */
export async function signIn(app: TestApp, page: Page, { email, password }: User): Promise<void> {
  await openSignIn(app, page);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Offers', exact: true }).waitFor();
}

export async function openSignIn(app: TestApp, page: Page): Promise<void> {
  await page.goto(app.url);
  await page.getByRole('link', { name: 'Sign in or register' }).click();
}

/**
 * Creates an account on the sign-in page and confirms its email address with the link in the sandbox's mailbox, as a
 * user would. Returns the tab that the user continues in, and the mailbox tab.
 */
export async function register(page: Page, email: string): Promise<{ page: Page; mailbox: Page }> {
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Individual').check();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('walk-along-the-quay');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const mailbox = await openTab(page.getByRole('link', { name: 'Open the sandbox mailbox' }));
  return { page: await openLinkIn(mailbox, email), mailbox };
}

/** Clicks a link that opens a tab. */
async function openTab(link: Locator): Promise<Page> {
  const opened = link.page().context().waitForEvent('page');
  await link.click();
  return opened;
}

/** Finds the email that contains `text` and opens its link. */
function openLinkIn(mailbox: Page, text: string): Promise<Page> {
  const email = mailbox.getByRole('listitem').filter({ hasText: text });
  return openTab(email.getByRole('link', { name: 'Open link' }).first());
}

export const walletPrompt = (page: Page) => page.locator('dialog.approval');

/** Approves the test wallet's prompt, optionally with a different allowance. */
export async function approve(page: Page, title: RegExp, amount?: string): Promise<void> {
  await walletPrompt(page).getByRole('heading', { name: title }).waitFor();
  if (amount !== undefined) await walletPrompt(page).getByLabel('Spending limit').fill(amount);
  await walletPrompt(page).getByRole('button', { name: 'Approve' }).click();
}

export async function reject(page: Page): Promise<void> {
  await walletPrompt(page).getByRole('button', { name: 'Reject' }).click();
}

/** Connects the test wallet with the header's button. */
export async function connectWallet(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect wallet' }).click();
  await chooseWallet(page, 'Test wallet');
  await page.getByRole('button', { name: /^Wallet 0x/ }).waitFor();
}

export async function chooseWallet(page: Page, name: string): Promise<void> {
  await page.locator('dialog[open]').getByRole('button', { name, exact: true }).click();
}

/** Opens the sandbox panel, acts in it and closes it. */
export async function inSandboxPanel(page: Page, act: (panel: Locator) => Promise<void>): Promise<void> {
  await page.getByRole('button', { name: /^Mail and tools/ }).click();
  const panel = page.getByRole('complementary', { name: 'Sandbox' });
  await act(panel);
  await panel.getByRole('button', { name: 'Close the sandbox panel' }).click();
}

export async function getTestMoney(page: Page): Promise<void> {
  await inSandboxPanel(page, async (panel) => {
    await panel.getByRole('button', { name: 'Get test money' }).click();
    await panel.getByText('Test money added.').waitFor();
  });
}

export function requirement(page: Page, type: string): Locator {
  return page.locator(`[data-requirement="${type}"]`);
}

export async function expectRequirement(page: Page, type: string, status: string): Promise<void> {
  await page.locator(`[data-requirement="${type}"][data-status="${status}"]`).waitFor();
}

/** Opens a requirement's step, unless the step is already open. The checklist shows one step at a time. */
export async function openRequirement(page: Page, type: string): Promise<Locator> {
  const row = requirement(page, type).first();
  await row.waitFor();
  const name = row.locator('button.cw-requirement-name');
  if ((await name.count()) > 0) await name.click();
  return row;
}

type Decision = { outcome?: string; country?: string };

/** Opens the identity provider's flow from a requirement and submits the flow with the given decision. */
export async function verify(page: Page, type: string, decision: Decision = {}): Promise<void> {
  await (await openRequirement(page, type)).getByRole('button').click();
  await submitIdentity(page, decision);
}

/** Chooses the decision in the identity provider's open flow and submits. The flow closes by itself. */
export async function submitIdentity(page: Page, { outcome = 'Approve', country }: Decision = {}) {
  const flow = page.frameLocator('.cw-identity-frame');
  await flow.getByRole('heading', { name: 'Verify your identity' }).waitFor();
  const url = await page.locator('.cw-identity-frame').getAttribute('src');
  if (country !== undefined) await flow.getByLabel('Country (two letters)').fill(country);
  await flow.getByLabel(outcome, { exact: true }).check();
  await flow.getByRole('button', { name: 'Send' }).click();
  // Waits only for this flow to close, because the next requirement's flow may open immediately.
  await page.locator(`.cw-identity-frame[src="${url}"]`).waitFor({ state: 'detached' });
}

/** Requests the open step's tax form by email, and signs it through the link in the mailbox tab. */
export async function signForm(page: Page, mailbox: Page): Promise<void> {
  const row = requirement(page, 'document');
  const signature = row.getByLabel('Signature');
  if ((await signature.inputValue()) !== '') throw new Error('the signature field must start empty');
  await signature.fill('Ada Investor');
  await row.getByRole('button', { name: 'Email me the form' }).click();
  await expectRequirement(page, 'document', 'in_progress');
  await mailbox.bringToFront();
  const signing = await openLinkIn(mailbox, 'read and sign the form');
  await signing.getByRole('button', { name: /^Sign/ }).click();
  await signing.getByRole('heading', { name: 'This form has been signed' }).waitFor();
  await signing.close();
  await mailbox.close();
  await page.bringToFront();
}

export async function fillAmount(page: Page, amount: string): Promise<void> {
  await page.getByLabel('Amount', { exact: true }).fill(amount);
}

/** Reviews the order and confirms it with the button called `name`. */
export async function confirmOrder(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Review order' }).click();
  await page.getByRole('button', { name, exact: true }).click();
}
