import { useTranslation } from 'react-i18next';
import { useController } from 'react-hook-form';
import { Button } from '../ui/Button';
import { CHANNELS, freshChannel, MOST_CHANNELS, type ChannelKind, type Typed, type TypedChannel } from './draft';

/** Where an alert is sent. The URL of a channel that there is is not shown; one that is typed replaces it. */
export function ChannelFields() {
  const { t } = useTranslation('alerts');
  const { field, fieldState } = useController<Typed, 'channels'>({ name: 'channels' });
  const { value: channels, onChange } = field;
  const fault = fieldState.error?.message;
  const set = (at: number, change: Partial<TypedChannel>) => onChange(channels.map((one, n) => (n === at ? { ...one, ...change } : one)));
  return (
    <fieldset className="alert-channels">
      <legend>{t('channels')}</legend>
      <p className="meta">
        {fault ? (
          <span className="fault-text" role="alert">
            {fault}
          </span>
        ) : (
          t('channelsHint')
        )}
      </p>
      {channels.map((channel, n) => (
        <div key={channel.key} className="alert-channel">
          <select
            className="select"
            aria-label={t('channelKind', { n: String(n + 1) })}
            disabled={channel.id !== null}
            value={channel.kind}
            onChange={(event) => set(n, { kind: event.target.value as ChannelKind })}
          >
            {CHANNELS.map((kind) => (
              <option key={kind} value={kind}>
                {t(`channelKinds.${kind}`)}
              </option>
            ))}
          </select>
          {channel.kind === 'mail' ? (
            <span className="second alert-url">{channel.destination || t('ownAddress')}</span>
          ) : (
            <input
              className="input mono alert-url"
              aria-label={t('url', { n: String(n + 1) })}
              aria-invalid={fault !== undefined}
              autoComplete="off"
              spellCheck={false}
              value={channel.url}
              placeholder={channel.id === null ? 'https://' : t('keepUrl', { at: channel.destination })}
              onChange={(event) => set(n, { url: event.target.value })}
            />
          )}
          {(channel.kind === 'feishu' || channel.kind === 'dingtalk') && (
            <input
              className="input mono"
              type="password"
              aria-label={t('botSecret', { n: String(n + 1) })}
              autoComplete="off"
              placeholder={t('botSecretHint')}
              value={channel.secret}
              onChange={(event) => set(n, { secret: event.target.value })}
            />
          )}
          <button
            type="button"
            className="quiet"
            disabled={channels.length === 1}
            aria-label={t('removeChannel', { n: String(n + 1) })}
            onClick={() => onChange(channels.filter((_, at) => at !== n))}
          >
            {t('remove')}
          </button>
        </div>
      ))}
      {channels.length < MOST_CHANNELS && (
        <div className="row">
          <Button onClick={() => onChange([...channels, freshChannel()])}>{t('addChannel')}</Button>
        </div>
      )}
    </fieldset>
  );
}
