#!/bin/sh
# Writes .env for docker compose once, with fresh secrets:
# deploy/make-env.sh https://callgate.example.com [demo] [observability] [cluster]
# The address is the one that browsers and programs use; the others are profiles to switch on. It never overwrites
# one: data sealed under the old secrets could not be read again.
set -eu
cd "$(dirname "$0")/.."
refuse() {
  echo "$*" >&2
  exit 1
}
[ ! -e .env ] || refuse ".env exists already; it is kept"
address= profiles= demo= cluster=
for word; do
  case $word in
  *://*) address=$word; continue ;;
  demo) demo=yes ;;
  cluster) cluster=yes ;;
  observability) ;;
  *) refuse "unknown profile $word; there are demo, observability and cluster" ;;
  esac
  profiles=$profiles${profiles:+,}$word
done
[ -n "$address" ] || [ -z "$demo" ] || address=http://localhost:8080
if [ -z "$address" ]; then
  echo "The address under which browsers and programs reach this installation, such as https://callgate.example.com." >&2
  echo "Links in mails, the return from a company's login and the safety of cookies depend on it." >&2
  printf 'PUBLIC_BASE_URL: ' >&2
  read -r address || echo >&2
fi
address=${address%/}
host=${address#*://}
case $address in
https://*) ;;
http://localhost | http://localhost:* | http://127.0.0.1 | http://127.0.0.1:*) ;; # this machine alone
*) refuse "PUBLIC_BASE_URL must begin with https://, or with http://localhost to try it out on one machine" ;;
esac
case $host in
"" | :* | *[!A-Za-z0-9.:-]*) refuse "PUBLIC_BASE_URL must be https:// and a host, with a port where it is not 443" ;;
esac
random() { openssl rand -hex 32; }
clickhouse=$(random)
umask 077
{
  cat <<END
POSTGRES_PASSWORD=$(random)
CLICKHOUSE_PASSWORD=$clickhouse
CLICKHOUSE_READER_PASSWORD=$(random)
GRAFANA_PASSWORD=$(random)
JWT_SECRET=$(random)
ACCESS_KEY_PEPPER=$(random)
ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)
PUBLIC_BASE_URL=$address
CALLGATE_VERSION=$(git describe --tags --always --dirty 2>/dev/null || echo local)
END
  [ -z "$profiles" ] || echo "COMPOSE_PROFILES=$profiles"
  [ -z "$cluster" ] || cat <<END
CLICKHOUSE_CLUSTER=callgate
CLICKHOUSE_URL=clickhouse://callgate:$clickhouse@clickhouse-1a:9000,clickhouse-1b:9000,clickhouse-2a:9000,clickhouse-2b:9000/callgate
CLICKHOUSE_READER_HOST=clickhouse-1a
END
  if [ -n "$demo" ]; then
    cat <<END
ADMIN_EMAILS=admin@example.com
SMTP_URL=smtp://mail:1025
MAIL_FROM=callgate@example.com
UPSTREAM_ALLOW_PRIVATE=true
END
  else
    cat <<END
# Fill these in: who may enter the back office, and how mail is sent.
ADMIN_EMAILS=
SMTP_URL=
MAIL_FROM=
END
  fi
} > .env
if [ -n "$demo" ]; then
  echo "wrote .env; now: docker compose up -d --build, sign in at $address/admin as admin@example.com, codes are at http://localhost:8025"
else
  echo "wrote .env; fill in ADMIN_EMAILS, SMTP_URL and MAIL_FROM, then: docker compose up -d --build"
fi
case $address in https://*) echo "who ends TLS for $address: deploy/docs/install.md#tls" ;; esac
