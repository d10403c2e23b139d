"""PyPI jsonrpcclient, which makes and reads messages, over PyPI requests: ADDRESS WIRE CASE."""

import base64

import requests
from benchmark import PAYLOAD_SIZES, answer, expect, message, payload, run, same
from jsonrpcclient import Error, Ok, parse, request, request_uuid


def call(address, sent):
    with requests.Session() as session:
        session.trust_env = False
        got = session.post(f"http://{address}/", json=sent, timeout=20)
    expect(f"HTTP status {got.status_code}", got.status_code == 200)
    return parse(got.json())


def echo(address, _wire, case):
    sent = message(case)
    for params in ((sent,), {"message": sent}):
        for make in (request, request_uuid):
            reply = call(address, make("echo", params=params))
            expect(f"reply: {reply}", isinstance(reply, Ok))
            same("reply", reply.result, answer(sent))


def sizes(address, _wire, _case):
    for size in PAYLOAD_SIZES:
        body = base64.b64encode(payload(size)).decode()
        reply = call(address, request("payload", params=({"body": body},)))
        expect(f"reply: {reply}", isinstance(reply, Ok))
        same(f"{size} bytes", reply.result, {"body": body})


def errors(address, _wire, _case):
    for sent, code in ((request("no_such_method"), -32601), (request("echo", params=(1,)), -32602)):
        reply = call(address, sent)
        expect(f"{sent}: {reply}", isinstance(reply, Error) and reply.code == code and reply.id == sent["id"])


def batch(address, _wire, _case):
    sent = [request("echo", params=({**message("distinct"), "field3": i},)) for i in range(10)]
    replies = {reply.id: reply.result for reply in call(address, sent)}
    for one in sent:
        same(f"request {one['id']}", replies.get(one["id"]), answer(one["params"][0]))


run({"echo": echo, "distinct": echo, "payload": sizes, "errors": errors, "batch": batch})
