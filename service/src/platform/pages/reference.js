/* Draws the API reference. In the sandbox it fills in tokens and ids, so that the first call works. */

const root = document.getElementById('reference');

async function getJson(url, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.json();
}

function postJson(url, body) {
  return getJson(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Returns tokens of a seeded user and of the seeded partner. */
async function issueTokens({ partner: { client_id, client_secret }, users: [user] }) {
  const [ofUser, ofPartner] = await Promise.all([
    postJson('/sandbox/token', { email: user.email }),
    postJson('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret }),
  ]);
  return { user: ofUser.access_token, partner: ofPartner.access_token };
}

function authentication(tokens, { client_id, client_secret }) {
  const client = { 'x-scalar-client-id': client_id, clientSecret: client_secret };
  return {
    preferredSecurityScheme: 'userToken',
    securitySchemes: {
      userToken: { flows: { authorizationCode: { token: tokens.user, ...client } } },
      partnerToken: { flows: { clientCredentials: { token: tokens.partner, ...client } } },
      clientSecret: { username: client_id, password: client_secret },
    },
  };
}

/** Replaces the example values of parameters by ones that exist in this sandbox. */
function fillIn(api, { offers, chains, wallets }) {
  const sale = offers.find(({ type, state }) => type === 'platform::token_sale' && state === 'open');
  const wallet = wallets.find(({ protocol }) => protocol === 'ethereum');
  const [chain] = chains;
  const values = {
    offer_id: sale?.id,
    chain: chain?.chain,
    wallet_address: wallet?.address,
    owner: wallet?.address,
    token_address: chain?.tokens[0]?.address,
    symbol: 'AAPLon',
  };
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const { parameters = [] } of Object.values(methods)) {
      for (const parameter of parameters) {
        const value = path === '/v1/offers/{id}' ? sale?.id : values[parameter.name];
        if (value !== undefined && parameter.required) parameter.example = value;
      }
    }
  }
}

/** Gets a new token when the one on the page has expired. */
function renewingFetch(sandbox) {
  return async (input, init) => {
    const request = new Request(input, init);
    const retry = request.clone();
    const response = await fetch(request);
    if (response.status !== 401 || !retry.headers.has('authorization')) return response;
    const { user } = await issueTokens(sandbox);
    retry.headers.set('authorization', `Bearer ${user}`);
    return fetch(retry);
  };
}

async function sandboxOptions(api) {
  const sandbox = await getJson('/sandbox');
  fillIn(api, sandbox);
  return {
    authentication: authentication(await issueTokens(sandbox), sandbox.partner),
    fetch: renewingFetch(sandbox),
  };
}

/** Attributes that assistive technology needs to understand the reference's own markup; null removes one. */
const REPAIRS = [
  ['button[aria-selected]:not([role])', 'aria-selected', null],
  ['aside ul:not([role]), aside li:not([role])', 'role', 'presentation'],
  ['aside[role="navigation"]', 'aria-label', 'Operations'],
  ['aside[role="navigation"]', 'role', 'region'],
  ['button[role="search"]', 'aria-label', 'Search'],
  ['button[role="search"]', 'role', null],
  ['.client-libraries__select', 'aria-label', 'More client libraries'],
  ['.client-libraries-list .client-libraries__select', 'role', 'tab'],
  ['ul.endpoints:not([tabindex])', 'tabindex', '0'],
  ['.scalar-card[role="region"]', 'role', 'group'],
];

function repair() {
  for (const [selector, attribute, value] of REPAIRS)
    for (const element of root.querySelectorAll(selector)) {
      if (value === null) element.removeAttribute(attribute);
      else if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
    }
}

let isRepairScheduled = false;
new MutationObserver(() => {
  if (isRepairScheduled) return;
  isRepairScheduled = true;
  requestAnimationFrame(() => {
    isRepairScheduled = false;
    repair();
  });
}).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-selected', 'role'] });

const content = await getJson(root.dataset.url);
const isSandbox = root.dataset.sandbox !== undefined;
// The reference is useful without the tokens, for example if the controls refuse this host.
const options = isSandbox ? await sandboxOptions(content).catch(() => ({})) : {};
window.Scalar.createApiReference(root, {
  content,
  withDefaultFonts: false,
  hideClientButton: true,
  telemetry: false,
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  theme: 'none',
  // The colours follow the system, as on all our pages.
  hideDarkModeToggle: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  ...options,
});
