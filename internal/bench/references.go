package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// The references do nothing but forward, in the way one would write them in an afternoon.

const (
	connsPerHost = 32 << 10
	headBuffer   = 16 << 10
)

// serveFasthttp is the bare fasthttp proxy for answers that are read whole.
func serveFasthttp(listener net.Listener, upstream string) error {
	return serveBare(listener, &fasthttp.HostClient{Addr: upstream, MaxConns: connsPerHost})
}

// serveFasthttps is the same before an upstream that speaks TLS.
func serveFasthttps(listener net.Listener, upstream string) error {
	return serveBare(listener, &fasthttp.HostClient{Addr: upstream, MaxConns: connsPerHost, IsTLS: true})
}

func serveBare(listener net.Listener, client *fasthttp.HostClient) error {
	server := &fasthttp.Server{ReadBufferSize: headBuffer, Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.Del("Connection")
		if client.IsTLS {
			ctx.Request.URI().SetScheme("https") // the client wants to be told
		}
		if err := client.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.Response.Header.Del("Connection")
	}}
	return server.Serve(listener)
}

// serveFiber is the bare Fiber relay: each read of the upstream is written and flushed.
func serveFiber(listener net.Listener, upstream string) error {
	client := &fasthttp.HostClient{Addr: upstream, MaxConns: connsPerHost, StreamResponseBody: true}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: headBuffer})
	app.All("/*", func(c *fiber.Ctx) error {
		request, response := c.Request(), fasthttp.AcquireResponse()
		request.Header.Del("Connection")
		if err := client.Do(request, response); err != nil {
			fasthttp.ReleaseResponse(response)
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		c.Status(response.StatusCode())
		c.Response().Header.SetContentTypeBytes(response.Header.ContentType())
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			relay(w, response)
			fasthttp.ReleaseResponse(response)
		})
		return nil
	})
	return app.Listener(listener)
}

func relay(w *bufio.Writer, response *fasthttp.Response) {
	buffer := make([]byte, 4<<10)
	for body := response.BodyStream(); ; {
		n, err := body.Read(buffer)
		_, _ = w.Write(buffer[:n]) // an error stays in w
		if w.Flush() != nil {
			response.SetConnectionClose() // else its connection is used again with the rest in it
			break
		}
		if err != nil {
			break
		}
	}
	_ = response.CloseBodyStream()
}

// nginxConfig writes what nginx needs to proxy to upstream without buffering; one worker that is
// also the master, so that one process shows all its work.
func nginxConfig(dir, listen, upstream string) (path string, err error) {
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log crit;
worker_rlimit_nofile 20000;
events { worker_connections 19000; }
http {
  access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi; keepalive_requests 1000000000;
  upstream mock { server %[3]s; keepalive 1024; keepalive_requests 1000000000; }
  server {
    listen %[2]s backlog=4096;
    location / { proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 300s; }
  }
}
`, dir, listen, upstream)
	path = filepath.Join(dir, "nginx.conf")
	return path, os.WriteFile(path, []byte(text), 0o600)
}
