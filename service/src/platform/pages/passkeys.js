/* Passkeys are the only feature of the pages that does not work without JavaScript. The buttons stay hidden where WebAuthn is unavailable. */

const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status === 429) throw new Error('Too many attempts. Wait a minute and try again.');
  if (response.status === 403 && (await response.json()).code === 'recent_sign_in_required') {
    window.location.assign('/sign-in?again=yes');
    throw new Error('Sign in again to continue.');
  }
  if (!response.ok) throw new Error('That passkey didn’t work. Try again.');
  return response.json();
}

const descriptors = (list) => (list ?? []).map((item) => ({ ...item, id: decode(item.id) }));

async function create(options) {
  const { response, id, type } = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: descriptors(options.excludeCredentials),
    },
  });
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

async function get(options) {
  const { response, id, type } = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      allowCredentials: descriptors(options.allowCredentials),
    },
  });
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
      ...(response.userHandle ? { userHandle: encode(response.userHandle) } : {}),
    },
  };
}

const CEREMONIES = {
  'sign-in': { path: '/passkeys/sign-in', run: get },
  add: { path: '/account/passkeys', run: create },
};

function describeError(error) {
  if (error.name === 'NotAllowedError') return 'Cancelled or timed out. Try again.';
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for your account.';
  return error.message;
}

async function runCeremony(container) {
  const { path, run } = CEREMONIES[container.dataset.passkey];
  const button = container.querySelector('button');
  const status = container.querySelector('[role="alert"]');
  const { csrf, next } = container.dataset;
  button.disabled = true;
  status.hidden = true;
  try {
    const options = await post(`${path}/options`, { csrf });
    const response = await run(options);
    const { location } = await post(path, { csrf, response, ...(next ? { next } : {}) });
    window.location.assign(location);
  } catch (error) {
    status.textContent = describeError(error);
    status.hidden = false;
    button.disabled = false;
  }
}

if (window.PublicKeyCredential && window.isSecureContext) {
  for (const container of document.querySelectorAll('[data-passkey]')) {
    container.hidden = false;
    container.querySelector('button').addEventListener('click', () => runCeremony(container));
  }
}
