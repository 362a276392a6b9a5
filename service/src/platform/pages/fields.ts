import { type Html, html } from '../../kernel/html.ts';

type Field = {
  name: string;
  label: string;
  type: 'email' | 'password' | 'text';
  inputmode?: 'numeric' | 'text';
  autocomplete: string;
  value?: string;
  hint?: string;
  problem?: string | undefined;
  autofocus?: boolean;
  minlength?: number;
  /** Extra content at the end of the label row. */
  aside?: Html;
};

/** Renders a labeled input. Screen readers announce the hint and the problem together with the input. */
export function field(options: Field): Html {
  const { name, label, type, autocomplete, value, hint, problem, autofocus, minlength, aside, inputmode } =
    options;
  const describedBy = [hint !== undefined && `${name}-hint`, problem !== undefined && `${name}-problem`]
    .filter(Boolean)
    .join(' ');
  return html`<div class="field">
<div class="label-row"><label for="${name}">${label}</label>${aside}</div>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required maxlength="${type === 'email' ? 254 : 256}"${
    minlength !== undefined && html` minlength="${minlength}"`
  }${value !== undefined && html` value="${value}"`}${describedBy !== '' && html` aria-describedby="${describedBy}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }${autofocus === true && html` autofocus`}${type === 'email' && html` inputmode="email"`}${inputmode !== undefined && html` inputmode="${inputmode}"`}${type !== 'password' && html` autocapitalize="none" spellcheck="false"`}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${problem !== undefined && html`<p class="problem" id="${name}-problem">${problem}</p>`}
</div>`;
}

export function hiddenField(name: string, value: string | null): Html | null {
  return value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`;
}

export function notice(text: string | undefined, isError = false): Html | null {
  if (text === undefined) return null;
  return isError
    ? html`<p class="notice bad" role="alert">${text}</p>`
    : html`<p class="notice" role="status">${text}</p>`;
}
